//! The workbench: a page in a browser over recordings, served on loopback to those who have its link.
//!
//! ```text
//! browser ─▶ guard (host, origin, token) ─▶ api (address ─▶ question) ─▶ work (places, cache) ─▶ a child (page) ─▶ explain
//!                                        └─▶ figures of the live page, changes of nodes
//! ```

mod api;
mod asked;
mod control;
mod guard;
mod library;
mod live;
mod page;
mod pages;
mod question;
mod save;
#[cfg(test)]
mod tests;
mod work;

pub use control::Control;
pub use library::Library;

pub(crate) use page::PageQuestion;

use crate::local_http::{self, BUSY, Bounds, Connection};
use anyhow::{Context, Result, ensure};
use api::Api;
use guard::Guard;
use hyper::body::Incoming;
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, REFERRER_POLICY, USER_AGENT,
    X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Method, Request, Response, StatusCode};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

/// The time for an answer includes that of waiting for a place and that of the question. Requests have no body; the query is in the URL.
const BOUNDS: Bounds =
    Bounds { answered_within: Duration::from_secs(180), headers_bytes: 64 << 10, strangers: 128, known: 128 };

/// Listens, and serves until its future is dropped.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    guard: Guard,
    api: Api,
}

/// The sender of a request, and the HTTP method.
#[derive(Debug)]
struct Asker {
    method: Method,
    who: String,
}

impl Asker {
    fn of<B>(request: &Request<B>, from: SocketAddr) -> Asker {
        let agent = request.headers().get(USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
        // The names of others are in the text of most browsers, too.
        let browsers = [("Edg/", "Edge"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari")];
        let browser = browsers.iter().find(|(mark, _)| agent.contains(mark)).map(|(_, name)| *name);
        let who = format!("{} from {}", browser.unwrap_or("a client"), from.ip());
        Asker { method: request.method().clone(), who }
    }
}

/// An answer, before it becomes an HTTP response.
#[derive(Debug)]
struct Answer {
    status: StatusCode,
    content: &'static str,
    body: String,
    /// The nonce for styles that the page's scripts create; None without a page.
    nonce: Option<String>,
}

impl Answer {
    fn json(body: String) -> Answer {
        Answer { status: StatusCode::OK, content: "application/json", body, nonce: None }
    }

    /// `{"error": …}`: a sentence for a person.
    fn error(status: StatusCode, why: &str) -> Answer {
        let body = serde_json::json!({ "error": why }).to_string();
        Answer { status, content: "application/json", body, nonce: None }
    }
}

impl Server {
    pub async fn bind(address: SocketAddr, library: Library, control: Arc<Control>) -> Result<Server> {
        ensure!(
            address.ip().is_loopback(),
            "--listen takes a loopback address only, such as 127.0.0.1:0; from another machine use: ssh -L"
        );
        let listener = TcpListener::bind(address).await.with_context(|| {
            format!("cannot listen on {address}; choose another port, or --listen {}:0 for a free one", address.ip())
        })?;
        let guard = Guard::new(listener.local_addr()?);
        Ok(Server { listener, guard, api: Api::new(library, control) })
    }

    /// The URL of the page with the token. A browser does not send the part after `#` to any server.
    pub fn link(&self) -> String {
        format!("http://{}/#token={}", self.guard.address(), self.guard.token())
    }

    pub fn address(&self) -> SocketAddr {
        self.guard.address()
    }

    /// Accepts all connections, each for a limited time.
    pub async fn serve(self) {
        let (guard, api) = (Arc::new(self.guard), Arc::new(self.api));
        let answer = move |request: Request<Incoming>, connection: Connection| {
            let (guard, api) = (Arc::clone(&guard), Arc::clone(&api));
            async move {
                response(match question(&guard, &request) {
                    Ok(_) if !connection.is_known() => Answer::error(BUSY.0, BUSY.1),
                    Ok((name, parameters)) => {
                        api.answer(Asker::of(&request, connection.from), &name, &parameters).await
                    }
                    Err(answer) => answer,
                })
            }
        };
        local_http::serve(self.listener, BOUNDS, answer).await;
    }
}

/// The name and parameters of a query; otherwise the answer that needs no query: a page, or an error.
fn question<B>(guard: &Guard, request: &Request<B>) -> Result<(String, String), Answer> {
    guard.checked(request)?;
    let Some(name) = request.uri().path().strip_prefix("/api/") else { return Err(pages::page(request.uri().path())) };
    guard.has_token(request)?;
    Ok((name.to_string(), request.uri().query().unwrap_or_default().to_string()))
}

/// Adds the headers that keep other sites from framing, reading or caching it.
fn response(answer: Answer) -> Response<String> {
    let mut response = Response::new(answer.body);
    *response.status_mut() = answer.status;
    let headers = response.headers_mut();
    let nonce = answer.nonce.map(|nonce| format!(" 'nonce-{nonce}'")).unwrap_or_default();
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'{nonce}; style-src-attr 'unsafe-inline'; \
         connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(answer.content));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    for name in ["cross-origin-resource-policy", "cross-origin-opener-policy"] {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static("same-origin"));
    }
    response
}
