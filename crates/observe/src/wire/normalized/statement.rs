//! Statements that read and write rows.
//!
//! Source: Apache Cassandra, `src/antlr/Parser.g`, `selectStatement` to `batchStatement`, and `relation`.

use super::lexer::Kind;
use super::reader::{Read, Reader, Stop};
use super::terms::Columns;

impl Reader<'_> {
    pub(super) fn select(&mut self) -> Read {
        self.word("SELECT")?;
        // Both are names of columns, too.
        for word in ["JSON", "DISTINCT"] {
            let is_column = self.is_word_at(1, "FROM") || self.is_word_at(1, "AS");
            let is_operand = ["(", ",", ".", "[", "+", "-", "/", "%"].iter().any(|sign| self.is_sign_at(1, sign));
            if self.is_word(word) && !is_column && !is_operand {
                self.take()?;
            }
        }
        if !self.may_sign("*") {
            self.list(|reader| {
                reader.expression(Columns::Allowed)?;
                if reader.may_word("AS") { reader.name() } else { Ok(()) }
            })?;
        }
        self.word("FROM")?;
        self.qualified_name()?;
        if self.may_word("WHERE") {
            self.relations()?;
        }
        loop {
            if self.may_word("GROUP") {
                self.word("BY")?;
                self.list(|reader| reader.expression(Columns::Allowed))?;
            } else if self.may_word("ORDER") {
                self.word("BY")?;
                self.list(Self::ordering)?;
            } else if self.may_word("PER") {
                self.words(&["PARTITION", "LIMIT"])?;
                self.number()?;
            } else if self.may_word("LIMIT") {
                self.number()?;
            } else if self.may_word("ALLOW") {
                self.word("FILTERING")?;
            } else if self.may_word("WITH") {
                self.name()?;
                self.sign("=")?;
                self.term()?;
            } else {
                return Ok(());
            }
        }
    }

    fn ordering(&mut self) -> Read {
        self.expression(Columns::Allowed)?;
        if self.may_word("ANN") {
            self.word("OF")?;
            self.term()?;
        }
        let _ = self.may_word("ASC") || self.may_word("DESC");
        Ok(())
    }

    pub(super) fn insert(&mut self) -> Read {
        self.words(&["INSERT", "INTO"])?;
        self.qualified_name()?;
        if self.may_word("JSON") {
            if self.is_marker() {
                self.marker()?;
            } else if self.is_kind(Kind::Literal) {
                self.take()?;
            } else {
                return Err(self.unexpected());
            }
            if self.may_word("DEFAULT") && !self.may_word("NULL") {
                self.word("UNSET")?;
            }
        } else {
            self.sign("(")?;
            self.list_until(")", Self::name)?;
            self.word("VALUES")?;
            self.sign("(")?;
            self.list_until(")", Self::term)?;
        }
        if self.may_word("IF") {
            self.words(&["NOT", "EXISTS"])?;
        }
        self.using()
    }

    pub(super) fn update(&mut self) -> Read {
        self.word("UPDATE")?;
        self.qualified_name()?;
        self.using()?;
        self.word("SET")?;
        self.list(Self::assignment)?;
        self.word("WHERE")?;
        self.relations()?;
        self.condition()
    }

    /// `a = 1`, `a = a + 1`, `a = [1] + a`, `a += 1`, `a['k'] = 1`, `a.field = 1`.
    fn assignment(&mut self) -> Read {
        let column = self.ahead(0).copied();
        self.name()?;
        if self.is_sign("[") || self.is_sign(".") {
            self.parts()?;
            self.sign("=")?;
            return self.term();
        }
        if self.may_sign("+") || self.may_sign("-") {
            self.sign("=")?;
            return self.term();
        }
        self.sign("=")?;
        // On the right, a name is the column itself and nothing else.
        let is_itself = |reader: &Self, by| {
            let same = reader.ahead(by).zip(column).is_some_and(|(token, column)| {
                token.kind == column.kind && token.text.eq_ignore_ascii_case(column.text)
            });
            same && !reader.is_sign_at(by + 1, "(")
        };
        if is_itself(self, 0) {
            self.take()?;
            if !self.may_sign("+") {
                self.sign("-")?;
            }
            return self.term();
        }
        self.operand(Columns::Refused)?;
        while ["+", "-", "*", "/", "%"].iter().any(|operator| self.is_sign(operator)) {
            self.take()?;
            if is_itself(self, 0) {
                return self.take();
            }
            self.operand(Columns::Refused)?;
        }
        Ok(())
    }

    pub(super) fn delete(&mut self) -> Read {
        self.word("DELETE")?;
        if !self.is_word("FROM") {
            self.list(|reader| {
                reader.name()?;
                reader.parts()
            })?;
        }
        self.word("FROM")?;
        self.qualified_name()?;
        self.using()?;
        self.word("WHERE")?;
        self.relations()?;
        self.condition()
    }

    fn using(&mut self) -> Read {
        if !self.may_word("USING") {
            return Ok(());
        }
        loop {
            if !self.may_word("TIMESTAMP") {
                self.word("TTL")?;
            }
            self.number()?;
            if !self.may_word("AND") {
                return Ok(());
            }
        }
    }

    fn condition(&mut self) -> Read {
        if !self.may_word("IF") || self.may_word("EXISTS") {
            return Ok(());
        }
        self.relations()
    }

    pub(super) fn relations(&mut self) -> Read {
        loop {
            self.relation()?;
            if !self.may_word("AND") && !self.may_word("OR") {
                return Ok(());
            }
        }
    }

    fn relation(&mut self) -> Read {
        self.deeper(|reader| {
            if reader.is_sign("(") && !reader.is_tuple_of_names() {
                reader.take()?;
                reader.relations()?;
                return reader.sign(")");
            }
            if reader.is_word("EXPR") && reader.is_sign_at(1, "(") {
                reader.take()?;
                reader.take()?;
                reader.name()?;
                reader.sign(",")?;
                reader.term()?;
                return reader.sign(")");
            }
            if reader.is_word("TOKEN") {
                reader.take()?;
            }
            if reader.may_sign("(") {
                reader.list_until(")", Self::name)?;
            } else {
                reader.name()?;
                reader.parts()?;
            }
            reader.comparison()
        })
    }

    /// Whether names in parentheses follow, and after them a comparison.
    fn is_tuple_of_names(&self) -> bool {
        let mut by = 1;
        while self.ahead(by).is_some_and(|token| token.kind != Kind::Literal) && !self.is_sign_at(by, ")") {
            let is_comma = self.is_sign_at(by, ",");
            if (by % 2 == 0) != is_comma {
                return false;
            }
            by += 1;
        }
        self.is_sign_at(by, ")")
    }

    fn comparison(&mut self) -> Read {
        if self.may_word("IS") {
            self.may_word("NOT");
            return self.word("NULL");
        }
        if self.may_word("BETWEEN") {
            self.term()?;
            self.word("AND")?;
            return self.term();
        }
        if self.may_word("LIKE") {
            return self.term();
        }
        let is_not = self.may_word("NOT");
        if self.may_word("IN") {
            return self.values();
        }
        if self.may_word("CONTAINS") {
            self.may_word("KEY");
            return self.term();
        }
        if is_not {
            return Err(self.unexpected());
        }
        match ["=", "<", ">", "!"].iter().find(|sign| self.is_sign(sign)) {
            None => return Err(self.unexpected()),
            Some(&"=") => self.take()?,
            Some(sign) => {
                self.take()?;
                if *sign == "!" {
                    self.sign("=")?;
                } else {
                    self.may_sign("=");
                }
            }
        }
        self.term()
    }

    /// The values of IN, whose number does not matter.
    fn values(&mut self) -> Read {
        if self.is_marker() {
            return self.marker();
        }
        self.collapsed("(?)", "(?", |reader| {
            reader.sign("(")?;
            reader.list_until(")", Self::term)
        })
    }

    /// A batch is named by its first statement. Returns the number of its statements; None if its end is not there.
    pub(super) fn batch(&mut self) -> Result<Option<u16>, Stop> {
        self.word("BEGIN")?;
        if !self.may_word("UNLOGGED") {
            self.may_word("COUNTER");
        }
        self.word("BATCH")?;
        self.using()?;
        self.out.clear();
        self.out.push_str("batch:");
        let mut count = 0_u16;
        while !self.is_word("APPLY") {
            let first = self.out.len();
            match self.modification() {
                Err(Stop::Cut) if count > 0 => {
                    self.out.truncate(first);
                    self.close_all();
                    return Ok(None);
                }
                read => read?,
            }
            if count > 0 {
                self.out.truncate(first);
            }
            count = count.saturating_add(1);
            let end = self.out.len();
            self.may_sign(";");
            self.out.truncate(end);
        }
        let end = self.out.len();
        let read = self.words(&["APPLY", "BATCH"]);
        self.out.truncate(end);
        match read {
            Err(Stop::Cut) => Ok(None),
            read => read.map(|()| Some(count)),
        }
    }

    fn modification(&mut self) -> Read {
        if self.is_word("INSERT") {
            self.insert()
        } else if self.is_word("UPDATE") {
            self.update()
        } else if self.is_word("DELETE") {
            self.delete()
        } else {
            Err(self.unexpected())
        }
    }
}
