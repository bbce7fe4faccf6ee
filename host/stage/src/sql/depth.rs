//! Limits of a text, found in its tokens before anything is built of it.
//!
//! The parser puts a chain (`a OR b OR c …`) together in a loop, as a tree that leans to the left: as deep as the chain
//! is long, without any limit of its own. All that is done with a tree afterwards, even dropping it, recurses.

use datafusion::sql::sqlparser::dialect::Dialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};

use super::plan::SqlProblem;

/// Longest text; `IN (…)` with some 100,000 values fits.
pub(super) const TEXT_BYTES_MAX: usize = 1024 * 1024;
/// Deepest tree. A thread has 2 MiB: 500 levels take more than 1 MiB in a build for tests, these take less.
pub(super) const DEPTH_MAX: usize = 250;
const HINT: &str = "for many values of one column write `IN (…)`; put rules of this size into a validator component";

/// Why a text is too long, or its tree too deep.
pub(super) fn refusal(text: &str, dialect: &dyn Dialect) -> Option<SqlProblem> {
    if text.len() > TEXT_BYTES_MAX {
        let what = format!("the expression has {} bytes, {TEXT_BYTES_MAX} are allowed", text.len());
        return Some(SqlProblem { what, hint: HINT.into() });
    }
    // What is no token is told by the parser, which builds nothing then.
    let tokens = Tokenizer::new(dialect, text).tokenize().ok()?;
    (depth(&tokens) > DEPTH_MAX).then(too_deep)
}

/// Said of what this room counts, and of what the parser counts: brackets within brackets.
pub(super) fn too_deep() -> SqlProblem {
    let what = format!(
        "the expression is too deep: at most {DEPTH_MAX} operators in a chain, and 40 brackets within each other"
    );
    SqlProblem { what, hint: HINT.into() }
}

/// How tightly operators bind: `OR`, `AND`, all others. What binds more tightly lies deeper.
const CLASSES: usize = 3;
const OR: usize = 0;
const AND: usize = 1;
const OTHER: usize = 2;

/// What stands between two brackets, or `CASE` and `END`.
#[derive(Default)]
struct Level {
    is_case: bool,
    /// Operators of each class in the chain that is being read.
    operators: [usize; CLASSES],
    /// Deepest operand of each class in it.
    deepest: [usize; CLASSES],
    /// Deepest of the chains before it.
    before: usize,
}

impl Level {
    fn operand(&mut self, depth: usize) {
        self.deepest[OTHER] = self.deepest[OTHER].max(depth);
    }

    fn operator(&mut self, class: usize) {
        self.end_chains_above(class);
        self.operators[class] += 1;
    }

    /// A chain that binds more tightly than `class` is an operand of that class.
    fn end_chains_above(&mut self, class: usize) {
        for tighter in (class + 1..CLASSES).rev() {
            let depth = std::mem::take(&mut self.operators[tighter]) + std::mem::take(&mut self.deepest[tighter]);
            self.deepest[tighter - 1] = self.deepest[tighter - 1].max(depth);
        }
    }

    /// A comma: what follows lies beside what was.
    fn separate(&mut self) {
        self.end_chains_above(OR);
        let depth = std::mem::take(&mut self.operators[OR]) + std::mem::take(&mut self.deepest[OR]);
        self.before = self.before.max(depth);
    }

    fn depth(mut self) -> usize {
        self.separate();
        self.before
    }
}

/// The depth of the tree of these tokens, at least; rather too much than too little.
fn depth(tokens: &[Token]) -> usize {
    let mut levels = Levels { outer: Vec::new(), inner: Level::default() };
    // A word that follows an operand is an operator; elsewhere it may be a column that is called as one, `text`.
    let mut after_operand = false;
    for token in tokens {
        match token {
            Token::Whitespace(_) => continue,
            Token::LParen | Token::LBrace => levels.open(false),
            // A subscript is an operator as well: `a[1][2]` lies as deep as it is long.
            Token::LBracket => {
                levels.inner.operator(OTHER);
                levels.open(false);
            }
            Token::RParen | Token::RBrace | Token::RBracket => levels.close_bracket(),
            Token::Comma => levels.inner.separate(),
            Token::Word(word) if word.quote_style.is_none() => levels.word(word.keyword, after_operand),
            Token::Word(_) | Token::Number(..) | Token::SingleQuotedString(_) | Token::EOF => {}
            _ => levels.inner.operator(OTHER),
        }
        after_operand = is_operand(token);
    }
    while levels.close() {}
    levels.inner.depth()
}

fn is_operand(token: &Token) -> bool {
    match token {
        Token::Word(word) => !matches!(
            word.keyword,
            Keyword::OR | Keyword::AND | Keyword::CASE | Keyword::WHEN | Keyword::THEN | Keyword::ELSE
        ),
        Token::Number(..) | Token::SingleQuotedString(_) => true,
        Token::RParen | Token::RBracket | Token::RBrace => true,
        _ => false,
    }
}

struct Levels {
    outer: Vec<Level>,
    inner: Level,
}

impl Levels {
    fn open(&mut self, is_case: bool) {
        let level = Level { is_case, ..Level::default() };
        self.outer.push(std::mem::replace(&mut self.inner, level));
    }

    /// False when this is the outermost.
    fn close(&mut self) -> bool {
        let Some(outer) = self.outer.pop() else { return false };
        let closed = std::mem::replace(&mut self.inner, outer);
        self.inner.operand(closed.depth() + 1);
        true
    }

    /// A column may be called `case`: a bracket closes what is open inside it.
    fn close_bracket(&mut self) {
        while self.inner.is_case && self.close() {}
        self.close();
    }

    fn word(&mut self, keyword: Keyword, after_operand: bool) {
        match keyword {
            Keyword::NoKeyword => {}
            Keyword::NOT => self.inner.operator(OTHER),
            Keyword::OR => self.inner.operator(OR),
            Keyword::AND => self.inner.operator(AND),
            Keyword::CASE => self.open(true),
            Keyword::WHEN | Keyword::THEN | Keyword::ELSE if self.inner.is_case => self.inner.separate(),
            Keyword::END if self.inner.is_case => {
                self.close();
            }
            _ if after_operand => self.inner.operator(OTHER),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use datafusion::sql::sqlparser::dialect::SparkSqlDialect;

    use super::*;

    fn of(text: &str) -> usize {
        depth(&Tokenizer::new(&SparkSqlDialect {}, text).tokenize().unwrap())
    }

    #[test]
    fn a_chain_is_as_deep_as_it_is_long_and_its_links_count_once() {
        assert_eq!(of("a"), 0);
        assert_eq!(of("a + b + c"), 2);
        assert_eq!(of("a = 1 OR b = 2 OR c = 3"), 3);
        assert_eq!(of("a = 1 AND b = 2 OR c = 3 AND d = 4 AND e = 5"), 4);
        assert_eq!(of("NOT NOT a"), 2);
        assert_eq!(of("a[1][2]"), 3);
        assert_eq!(of("text || text || text"), 2, "columns with the names of keywords");
    }

    #[test]
    fn what_stands_side_by_side_is_not_deep() {
        assert_eq!(of("a IN (1, 2, 3, -4)"), 3);
        assert_eq!(of("concat(a, b, concat(c, d))"), 2);
        assert_eq!(of("CASE WHEN a = 1 THEN 'x' WHEN a = 2 THEN 'y' ELSE 'z' END"), 2);
        assert_eq!(of("`or` = 'a OR b OR c' -- OR OR OR"), 1);
    }

    #[test]
    fn what_stands_inside_is_deeper() {
        assert_eq!(of("((a))"), 2);
        assert_eq!(of("(a + b) + c"), 3);
        assert_eq!(of("(CASE WHEN a THEN CASE WHEN b + 1 + 1 THEN c END END)"), 5);
        assert_eq!(of("(case + a + b) + (c"), 5);
    }
}
