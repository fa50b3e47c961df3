//! Column types in CQL notation: `map<text, frozen<list<"Place">>>`.

/// The deepest nesting that is read: deeper than in any schema, and shallow enough for the stack.
const DEEPEST: usize = 64;

/// A type of a column, or of a field of a user-defined type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CqlType {
    /// A type of CQL's own or a user-defined one; only the schema tells them apart. The name has no quotes, and a name that
    /// was written without quotes is in lower case.
    Named(String),
    /// `list`, `set`, `map`, `tuple`, `frozen` or `vector`, with the types between its brackets.
    Of(String, Vec<CqlType>),
    /// The dimension of a vector.
    Number(u32),
    /// A Java class in single quotes.
    Class(String),
}

/// The reason why a text is not a type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no type of CQL: {expected} was expected at character {at}")]
pub struct NotAType {
    text: String,
    expected: &'static str,
    at: usize,
}

impl CqlType {
    /// Reads a type.
    ///
    /// # Errors
    /// [`NotAType`] with the place in the text.
    pub fn parse(text: &str) -> Result<CqlType, NotAType> {
        let mut reader = TypeParser { text, rest: text };
        let read = reader.cql_type(0)?;
        reader.skip_space();
        match reader.rest {
            "" => Ok(read),
            _ => Err(reader.expected("the end")),
        }
    }

    /// All names in the type that may be those of user-defined types, from left to right.
    pub fn names(&self) -> Vec<&str> {
        match self {
            CqlType::Named(name) => vec![name],
            CqlType::Of(_, parameters) => parameters.iter().flat_map(CqlType::names).collect(),
            CqlType::Number(_) | CqlType::Class(_) => Vec::new(),
        }
    }
}

struct TypeParser<'t> {
    text: &'t str,
    rest: &'t str,
}

impl TypeParser<'_> {
    fn cql_type(&mut self, depth: usize) -> Result<CqlType, NotAType> {
        if depth > DEEPEST {
            return Err(self.expected("a type that is nested less deeply"));
        }
        self.skip_space();
        match self.rest.chars().next() {
            Some('"') => Ok(CqlType::Named(self.quoted('"')?)),
            Some('\'') => Ok(CqlType::Class(self.quoted('\'')?)),
            Some('0'..='9') => {
                let digits = self.take(|letter| letter.is_ascii_digit());
                digits.parse().map(CqlType::Number).map_err(|_| self.expected("a dimension"))
            }
            Some(letter) if letter.is_ascii_alphabetic() || letter == '_' => {
                let name = self.take(|letter| letter.is_ascii_alphanumeric() || letter == '_').to_ascii_lowercase();
                self.parameters(name, depth)
            }
            _ => Err(self.expected("a type")),
        }
    }

    /// Parses the rest of a type after an unquoted name.
    fn parameters(&mut self, name: String, depth: usize) -> Result<CqlType, NotAType> {
        if !self.take_letter('<') {
            return Ok(CqlType::Named(name));
        }
        let mut parameters = vec![self.cql_type(depth + 1)?];
        while self.take_letter(',') {
            parameters.push(self.cql_type(depth + 1)?);
        }
        match self.take_letter('>') {
            true => Ok(CqlType::Of(name, parameters)),
            false => Err(self.expected("`,` or `>`")),
        }
    }

    /// Reads the text between quotes; a doubled quote is one quote.
    fn quoted(&mut self, quote: char) -> Result<String, NotAType> {
        let mut read = String::new();
        let mut letters = self.rest.char_indices().skip(1).peekable();
        while let Some((at, letter)) = letters.next() {
            if letter != quote {
                read.push(letter);
            } else if letters.next_if(|(_, next)| *next == quote).is_some() {
                read.push(quote);
            } else {
                self.rest = &self.rest[at + 1..];
                return Ok(read);
            }
        }
        self.rest = "";
        Err(self.expected("a closing quote"))
    }

    fn take(&mut self, is_of: impl Fn(char) -> bool) -> &str {
        let end = self.rest.find(|letter| !is_of(letter)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn take_letter(&mut self, letter: char) -> bool {
        self.skip_space();
        match self.rest.strip_prefix(letter) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn expected(&self, expected: &'static str) -> NotAType {
        let at = self.text[..self.text.len() - self.rest.len()].chars().count();
        NotAType { text: self.text.chars().take(200).collect(), expected, at }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn named(name: &str) -> CqlType {
        CqlType::Named(name.into())
    }

    #[test]
    fn types_of_a_schema_are_read() {
        let read = CqlType::parse("map<text, frozen<list<\"Place\">>>").unwrap();
        let list = CqlType::Of("list".into(), vec![named("Place")]);
        assert_eq!(read, CqlType::Of("map".into(), vec![named("text"), CqlType::Of("frozen".into(), vec![list])]));
        assert_eq!(read.names(), ["text", "Place"]);
        assert_eq!(CqlType::parse(" INT "), Ok(named("int")));
        assert_eq!(
            CqlType::parse("vector<float,3>"),
            Ok(CqlType::Of("vector".into(), vec![named("float"), CqlType::Number(3)]))
        );
        assert_eq!(CqlType::parse("'org.example.Type(a=>b)'"), Ok(CqlType::Class("org.example.Type(a=>b)".into())));
        // A user's type may have the name of a collection; then it is quoted.
        assert_eq!(CqlType::parse("\"list\"").unwrap().names(), ["list"]);
    }

    #[test]
    fn what_is_no_type_says_where() {
        let error = |text: &str| CqlType::parse(text).unwrap_err().to_string();
        assert!(error("list<int").contains("`,` or `>` was expected at character 8"), "{}", error("list<int"));
        for text in
            ["", "<", "list<>", "list<int>>", "\"open", "int int", "map<int;text>", "vector<float, 99999999999>"]
        {
            assert!(CqlType::parse(text).is_err(), "{text}");
        }
        assert!(CqlType::parse(&"list<".repeat(100_000)).is_err());
    }

    /// The CQL notation, with `gap` after commas.
    fn written(cql_type: &CqlType, gap: &str) -> String {
        match cql_type {
            CqlType::Named(name) => format!("\"{}\"", name.replace('"', "\"\"")),
            CqlType::Of(name, parameters) => {
                let parameters: Vec<String> = parameters.iter().map(|parameter| written(parameter, gap)).collect();
                format!("{name}{gap}<{gap}{}{gap}>", parameters.join(&format!("{gap},{gap}")))
            }
            CqlType::Number(number) => number.to_string(),
            CqlType::Class(class) => format!("'{}'", class.replace('\'', "''")),
        }
    }

    fn any_type() -> impl Strategy<Value = CqlType> {
        let leaf = prop_oneof![
            "[\\PC\"]{1,8}".prop_map(CqlType::Named),
            "[\\PC']{0,12}".prop_map(CqlType::Class),
            any::<u32>().prop_map(CqlType::Number),
        ];
        leaf.prop_recursive(5, 40, 4, |inner| {
            let name = prop::sample::select(vec!["list", "set", "map", "tuple", "frozen", "vector"]);
            (name, prop::collection::vec(inner, 1..4))
                .prop_map(|(name, parameters)| CqlType::Of(name.into(), parameters))
        })
    }

    proptest! {
        #[test]
        fn whatever_is_written_is_read_as_it_was(cql_type in any_type(), gap in "[ \n]{0,2}") {
            prop_assert_eq!(CqlType::parse(&written(&cql_type, &gap)), Ok(cql_type));
        }

        #[test]
        fn any_text_is_a_type_or_an_error(text in "[a-z<>,\"' 0-9ü]{0,60}") {
            if let Ok(read) = CqlType::parse(&text) {
                prop_assert_eq!(CqlType::parse(&written(&read, "")), Ok(read));
            }
        }
    }
}
