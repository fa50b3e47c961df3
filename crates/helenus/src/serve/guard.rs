//! Access control: only pages of this server, in a browser that was given the link, get answers.
//!
//! A web site in the same browser can send requests here, but it can't set the header with the token. If it uses a name
//! that resolves to 127.0.0.1, that name is in the Host header.

use super::Answer;
use crate::local_http::Hosts;
use hyper::header::{AUTHORIZATION, CONTENT_LENGTH, ORIGIN, TRANSFER_ENCODING};
use hyper::{Method, Request, StatusCode};
use std::net::SocketAddr;

#[derive(Debug)]
pub(super) struct Guard {
    address: SocketAddr,
    token: String,
    hosts: Hosts,
}

impl Guard {
    pub(super) fn new(address: SocketAddr) -> Guard {
        Guard { address, token: format!("{:032x}", rand::random::<u128>()), hosts: Hosts::of(address) }
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// Refuses requests that a page of this server would not send.
    pub(super) fn checked<B>(&self, request: &Request<B>) -> Result<(), Answer> {
        let text =
            |name: &str| request.headers().get(name).map(|value| value.to_str().unwrap_or("?").to_ascii_lowercase());
        let refuse = |why: &str| Err(Answer::error(StatusCode::FORBIDDEN, why));
        if !self.hosts.are_asked_by(request) {
            return refuse("this server answers to its own address only: open the link that helenus serve printed");
        }
        if let Some(origin) = text(ORIGIN.as_str())
            && !origin.strip_prefix("http://").is_some_and(|host| self.hosts.has(host))
        {
            return refuse("another site's page asked; only the workbench's own page is answered");
        }
        let is_api = request.uri().path().starts_with("/api/");
        if is_api && text("sec-fetch-site").is_some_and(|site| !["same-origin", "none"].contains(&site.as_str())) {
            return refuse("another site's page asked; only the workbench's own page is answered");
        }
        let writes = is_api && request.method() == Method::POST;
        if request.method() != Method::GET && !writes {
            return Err(Answer::error(StatusCode::METHOD_NOT_ALLOWED, "everything is read with GET"));
        }
        if writes && !request.headers().contains_key(ORIGIN) {
            return refuse("a request that writes must name the workbench's own page in its Origin header");
        }
        let has_body = request.headers().contains_key(TRANSFER_ENCODING)
            || text(CONTENT_LENGTH.as_str()).is_some_and(|length| length != "0");
        if has_body {
            return Err(Answer::error(StatusCode::PAYLOAD_TOO_LARGE, "requests have no body"));
        }
        Ok(())
    }

    pub(super) fn has_token<B>(&self, request: &Request<B>) -> Result<(), Answer> {
        let header = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        if header.and_then(|value| value.strip_prefix("Bearer ")) == Some(self.token.as_str()) {
            return Ok(());
        }
        let why = "the token is missing or wrong: open the link that helenus serve printed when it started";
        Err(Answer::error(StatusCode::UNAUTHORIZED, why))
    }
}
