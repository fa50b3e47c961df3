/// A mistake in a file. The message says what is wrong, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}{}: {message}", column.map(|column| format!(":{column}")).unwrap_or_default())]
pub struct Error {
    pub file: String,
    /// Line number, from 1.
    pub line: usize,
    /// Column, from 1, in characters; None if the reader of the file does not know it.
    pub column: Option<usize>,
    pub message: String,
}

impl Error {
    pub fn at_line(file: &str, line: usize, message: impl Into<String>) -> Error {
        Error { file: file.to_string(), line, column: None, message: message.into() }
    }
}
