//! Makes a program that shows something smaller: lines, and blocks of lines, are left out as long as it still shows it.

/// The smallest text found of which `shows` still holds.
pub fn shrunk(text: &str, shows: &mut dyn FnMut(&str) -> bool) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    let mut again = true;
    while again {
        again = false;
        let mut length = (lines.len() / 2).max(1);
        while length > 0 {
            let mut at = 0;
            while at < lines.len() {
                // A run of lines, a whole block, or a block without its inside's frame.
                let end = (at + length).min(lines.len());
                let mut others: Vec<Vec<String>> = vec![[&lines[..at], &lines[end..]].concat()];
                if length == 1
                    && let Some(last) = block_end(&lines, at)
                {
                    others.push([&lines[..at], &lines[last + 1..]].concat());
                    others.push([&lines[..at], &lines[at + 1..last], &lines[last + 1..]].concat());
                }
                match others.into_iter().find(|other| other.len() < lines.len() && shows(&other.join("\n"))) {
                    Some(other) => {
                        lines = other;
                        again = true;
                    }
                    None => at += length,
                }
            }
            length /= 2;
        }
    }
    lines.join("\n")
}

/// The line that closes a block which a line opens.
fn block_end(lines: &[String], at: usize) -> Option<usize> {
    let mut depth = 0i32;
    for (number, line) in lines.iter().enumerate().skip(at) {
        depth += line.matches('{').count() as i32 - line.matches('}').count() as i32;
        if depth <= 0 {
            return (number > at).then_some(number);
        }
    }
    None
}
