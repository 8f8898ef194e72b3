//! Words of one line, with their places.

use super::error::{Mistake, RoutesError};
use std::net::IpAddr;
use std::str::FromStr;

/// What is left of a line.
#[derive(Clone)]
pub struct Line<'a> {
    number: usize,
    text: &'a str,
    at: usize,
}

/// A word and where it begins.
#[derive(Clone, Copy)]
pub struct Word<'a> {
    pub text: &'a str,
    pub column: usize,
    pub line: usize,
}

impl<'a> Line<'a> {
    /// Of a file's line `number`, from 1.
    pub fn new(number: usize, text: &'a str) -> Self {
        Self { number, text, at: 0 }
    }

    /// The next word, if there is one. `\` is what `ip -oneline` writes for a line's end.
    pub fn next(&mut self) -> Option<Word<'a>> {
        let left = &self.text[self.at..];
        let blank = |c: char| c.is_whitespace() || c == '\\';
        let start = self.at + left.find(|c| !blank(c))?;
        let end = self.text[start..].find(blank).map_or(self.text.len(), |n| start + n);
        self.at = end;
        let column = self.text[..start].chars().count() + 1;
        Some(Word { text: &self.text[start..end], column, line: self.number })
    }

    /// The next word, left where it is.
    pub fn peek(&self) -> Option<Word<'a>> {
        self.clone().next()
    }

    /// The next word, which must be there.
    pub fn expect(&mut self, allowed: &str) -> Result<Word<'a>, RoutesError> {
        self.next().ok_or_else(|| self.missing(allowed))
    }

    /// Something is missing at the end.
    pub fn missing(&self, allowed: &str) -> RoutesError {
        RoutesError {
            mistake: Mistake::Missing,
            line: self.number,
            column: self.text.trim_end().chars().count() + 1,
            found: "the end of the line".into(),
            allowed: allowed.into(),
        }
    }
}

impl Word<'_> {
    /// A mistake at this word.
    pub fn error(&self, mistake: Mistake, allowed: &str) -> RoutesError {
        let shown: String = self.text.chars().take(40).collect();
        let found = format!("`{shown}{}`", if shown.len() < self.text.len() { "..." } else { "" });
        RoutesError { mistake, line: self.line, column: self.column, found, allowed: allowed.into() }
    }

    /// As a number, decimal or hexadecimal.
    pub fn number(&self, least: u32, most: u32) -> Result<u32, RoutesError> {
        let parsed = match self.text.strip_prefix("0x") {
            Some(hex) if hex.chars().all(|c| c.is_ascii_hexdigit()) => u32::from_str_radix(hex, 16).ok(),
            _ if self.text.chars().all(|c| c.is_ascii_digit()) => self.text.parse().ok(),
            _ => None,
        };
        let allowed = format!("a number from {least} to {most}");
        parsed.filter(|n| (least..=most).contains(n)).ok_or_else(|| self.error(Mistake::Value, &allowed))
    }

    /// As an address.
    pub fn address(&self) -> Result<IpAddr, RoutesError> {
        IpAddr::from_str(self.text).map_err(|_| self.error(Mistake::Value, "an IPv4 or IPv6 address"))
    }

    /// As a prefix; without a length it is one address.
    pub fn prefix(&self) -> Result<(IpAddr, u8), RoutesError> {
        let bad = || self.error(Mistake::Value, "a prefix such as 10.0.0.0/8 or fd00::/64, or `default`");
        let (address, length) = self.text.split_once('/').map_or((self.text, None), |(a, l)| (a, Some(l)));
        let address = IpAddr::from_str(address).map_err(|_| bad())?;
        let all = if address.is_ipv6() { 128 } else { 32 };
        let length = match length {
            None => all,
            Some(text) if !text.is_empty() && text.len() <= 3 && text.bytes().all(|b| b.is_ascii_digit()) => {
                text.parse::<u8>().ok().filter(|n| *n <= all).ok_or_else(bad)?
            }
            Some(_) => return Err(bad()),
        };
        Ok((address, length))
    }

    /// As a MAC address.
    pub fn mac(&self) -> Result<[u8; 6], RoutesError> {
        let bad = || self.error(Mistake::Value, "a MAC address such as 02:00:00:00:00:01");
        let mut mac = [0; 6];
        let mut parts = self.text.split(':');
        for byte in &mut mac {
            let part = parts.next().filter(|p| (1..=2).contains(&p.len())).ok_or_else(bad)?;
            *byte = u8::from_str_radix(part, 16).map_err(|_| bad())?;
        }
        if parts.next().is_some() { Err(bad()) } else { Ok(mac) }
    }
}
