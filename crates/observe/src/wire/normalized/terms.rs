//! Terms: literals, markers, function calls, and where they are allowed, names of columns.
//!
//! Source: Apache Cassandra, `src/antlr/Parser.g`, from `unaliasedSelector` and `term` on.

use super::lexer::Kind;
use super::reader::{Read, Reader};

/// Words that are names only in quotes.
const RESERVED: &[&str] = &[
    "ADD",
    "ALLOW",
    "ALTER",
    "AND",
    "APPLY",
    "ASC",
    "AUTHORIZE",
    "BATCH",
    "BEGIN",
    "BY",
    "COLUMNFAMILY",
    "CREATE",
    "DEFAULT",
    "DELETE",
    "DESC",
    "DESCRIBE",
    "DROP",
    "ENTRIES",
    "EXECUTE",
    "FROM",
    "FULL",
    "GRANT",
    "IF",
    "IN",
    "INDEX",
    "INFINITY",
    "INSERT",
    "INTO",
    "IS",
    "KEYSPACE",
    "LIMIT",
    "MATERIALIZED",
    "MBEAN",
    "MBEANS",
    "MODIFY",
    "NAN",
    "NORECURSIVE",
    "NOT",
    "NULL",
    "OF",
    "ON",
    "OR",
    "ORDER",
    "PRIMARY",
    "RENAME",
    "REPLACE",
    "REVOKE",
    "SCHEMA",
    "SELECT",
    "SET",
    "TABLE",
    "TO",
    "TOKEN",
    "TRUNCATE",
    "UNLOGGED",
    "UNSET",
    "UPDATE",
    "USE",
    "USING",
    "VIEW",
    "WHERE",
    "WITH",
];
const OPERATORS: [&str; 5] = ["+", "-", "*", "/", "%"];

/// Whether the name of a column may be a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Columns {
    Allowed,
    Refused,
}

impl Reader<'_> {
    fn is_name_at(&self, by: usize) -> bool {
        self.ahead(by).is_some_and(|token| match token.kind {
            Kind::Quoted => true,
            Kind::Word => !RESERVED.iter().any(|word| word.eq_ignore_ascii_case(token.text)),
            Kind::Literal | Kind::Sign => false,
        })
    }

    pub(super) fn is_name(&self) -> bool {
        self.is_name_at(0)
    }

    pub(super) fn name(&mut self) -> Read {
        if self.is_name() { self.take() } else { Err(self.unexpected()) }
    }

    /// A name with or without a keyspace.
    pub(super) fn qualified_name(&mut self) -> Read {
        self.name()?;
        if self.may_sign(".") { self.name() } else { Ok(()) }
    }

    pub(super) fn is_marker(&self) -> bool {
        self.is_sign("?") || self.is_sign(":")
    }

    pub(super) fn marker(&mut self) -> Read {
        if self.may_sign("?") {
            return Ok(());
        }
        self.sign(":")?;
        self.name()
    }

    /// A term that names no column.
    pub(super) fn term(&mut self) -> Read {
        self.expression(Columns::Refused)
    }

    pub(super) fn expression(&mut self, columns: Columns) -> Read {
        self.operand(columns)?;
        while OPERATORS.iter().any(|operator| self.is_sign(operator)) {
            self.take()?;
            self.operand(columns)?;
        }
        Ok(())
    }

    /// An integer or a marker.
    pub(super) fn number(&mut self) -> Read {
        if self.is_marker() {
            return self.marker();
        }
        self.may_sign("-");
        if self.is_kind(Kind::Literal) { self.take() } else { Err(self.unexpected()) }
    }

    pub(super) fn operand(&mut self, columns: Columns) -> Read {
        self.deeper(|reader| {
            reader.operand_here(columns)?;
            // Where columns are read, everything may have elements and fields.
            if columns == Columns::Allowed { reader.parts() } else { Ok(()) }
        })
    }

    fn operand_here(&mut self, columns: Columns) -> Read {
        if self.is_sign("-") {
            // A negative constant is a literal as a positive one is.
            return match self.ahead(1).is_some_and(|next| next.kind == Kind::Literal) {
                true => self.collapsed("?", "", |reader| {
                    reader.take()?;
                    reader.take()
                }),
                false => {
                    self.take()?;
                    self.operand(columns)
                }
            };
        }
        if self.is_kind(Kind::Literal) || self.is_word("NULL") {
            return self.take();
        }
        if self.is_marker() {
            return self.marker();
        }
        if self.is_sign("(") {
            return self.in_parentheses(columns);
        }
        if self.is_sign("[") {
            return self.collapsed("?", "?", |reader| {
                reader.take()?;
                reader.list_until("]", |reader| reader.expression(columns))
            });
        }
        if self.is_sign("{") {
            return self.collapsed("?", "?", |reader| {
                reader.take()?;
                reader.list_until("}", |reader| reader.entry(columns))
            });
        }
        if self.is_word("CAST") && self.is_sign_at(1, "(") {
            self.take()?;
            self.take()?;
            self.expression(columns)?;
            self.word("AS")?;
            self.value_type()?;
            return self.sign(")");
        }
        if self.is_function() {
            return self.function(columns);
        }
        if columns == Columns::Refused {
            return Err(self.unexpected());
        }
        self.columns += 1;
        self.name()
    }

    /// Elements and fields of a column.
    pub(super) fn parts(&mut self) -> Read {
        loop {
            if self.may_sign(".") {
                self.name()?;
            } else if self.may_sign("[") {
                if !self.is_sign("..") {
                    self.term()?;
                }
                if self.may_sign("..") && !self.is_sign("]") {
                    self.term()?;
                }
                self.sign("]")?;
            } else {
                return Ok(());
            }
        }
    }

    /// An item of a set, or a key with its value: of a map, or of a user-defined type, whose keys are names.
    fn entry(&mut self, columns: Columns) -> Read {
        if self.is_name() && self.is_sign_at(1, ":") {
            self.take()?;
        } else {
            self.expression(columns)?;
        }
        if self.may_sign(":") { self.expression(columns) } else { Ok(()) }
    }

    fn is_function(&self) -> bool {
        let begins = |by| self.is_sign_at(by + 1, "(") && (self.is_name_at(by) || self.is_word_at(by, "TOKEN"));
        begins(0) || (self.is_name() && self.is_sign_at(1, ".") && begins(2))
    }

    fn function(&mut self, columns: Columns) -> Read {
        self.take()?;
        if self.may_sign(".") {
            self.take()?;
        }
        self.sign("(")?;
        if self.may_sign("*") {
            return self.sign(")");
        }
        self.list_until(")", |reader| reader.expression(columns))
    }

    /// A term with its type before it, a tuple, or terms that belong together.
    fn in_parentheses(&mut self, columns: Columns) -> Read {
        let is_type =
            self.ahead(1).is_some_and(|token| token.kind == Kind::Word && !token.text.eq_ignore_ascii_case("NULL"))
                && !self.is_sign_at(2, "(")
                && !(self.is_sign_at(2, ".") && self.is_sign_at(4, "("));
        if is_type && (columns == Columns::Refused || self.is_sign_at(2, "<")) {
            self.sign("(")?;
            self.value_type()?;
            self.sign(")")?;
            return self.operand(columns);
        }
        self.sign("(")?;
        self.list(|reader| reader.expression(columns))?;
        self.sign(")")?;
        // Among columns, a name in parentheses may have been a type.
        let follows = columns == Columns::Allowed
            && is_type
            && (self.is_kind(Kind::Literal) || self.is_marker() || self.is_name() && !self.is_any(&["AS"]));
        if follows { self.operand(columns) } else { Ok(()) }
    }

    pub(super) fn value_type(&mut self) -> Read {
        self.deeper(|reader| {
            if reader.is_kind(Kind::Literal) {
                return reader.take();
            }
            reader.qualified_name()?;
            if reader.may_sign("<") {
                reader.list(Self::value_type)?;
                return reader.sign(">");
            }
            Ok(())
        })
    }
}
