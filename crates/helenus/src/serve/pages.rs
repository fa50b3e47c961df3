//! The page and its parts. They hold no data, and need no token.

use super::Answer;
use crate::assets::{WORKBENCH_CSS, WORKBENCH_HTML, WORKBENCH_JS};
use hyper::StatusCode;

/// Placeholder in the page for the nonce of styles that its scripts create.
const NONCE: &str = "HELENUS_NONCE";

pub(super) fn page(path: &str) -> Answer {
    let (content, text) = match path {
        "/" => ("text/html; charset=utf-8", WORKBENCH_HTML),
        "/workbench.js" => ("text/javascript; charset=utf-8", WORKBENCH_JS),
        "/workbench.css" => ("text/css; charset=utf-8", WORKBENCH_CSS),
        _ => return Answer::error(StatusCode::NOT_FOUND, "there is no such page; the workbench is at /"),
    };
    let nonce = (path == "/").then(|| format!("{:032x}", rand::random::<u128>()));
    let body = match &nonce {
        Some(nonce) => text.replace(NONCE, nonce),
        None => text.to_string(),
    };
    Answer { status: StatusCode::OK, content, body, nonce }
}
