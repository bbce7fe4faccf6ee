//! `sasl.jaas.config` of the Java client, as far as user name and password go (K-095).
//!
//! The form is that of `javax.security.auth.login.Configuration`: a class, a flag, `name=value` pairs, a semicolon.

/// What a configuration says.
#[derive(PartialEq, Eq)]
pub(crate) struct Jaas {
    /// `PLAIN`; `None` where the module fits several mechanisms and `sasl.mechanism` must tell.
    pub(crate) mechanism: Option<&'static str>,
    pub(crate) username: String,
    pub(crate) password: String,
}

/// Reads a configuration. An error is a message for people without any value of the text.
pub(crate) fn parse(text: &str) -> Result<Jaas, String> {
    let mut words = words(text)?.into_iter();
    let module = words.next().unwrap_or_default();
    let mechanism = match module.rsplit('.').next().unwrap_or_default() {
        "PlainLoginModule" => Some("PLAIN"),
        "ScramLoginModule" => None,
        _ => return Err("names neither `PlainLoginModule` nor `ScramLoginModule`".to_owned()),
    };
    let (mut username, mut password) = (None, None);
    for word in words {
        match word.split_once('=') {
            Some(("username", value)) => username = Some(value.to_owned()),
            Some(("password", value)) => password = Some(value.to_owned()),
            Some((name, _)) => return Err(format!("has the option `{name}`, which means nothing to this client")),
            None => {}
        }
    }
    match (username, password) {
        (Some(username), Some(password)) => Ok(Jaas { mechanism, username, password }),
        (None, _) => Err("has no `username`".to_owned()),
        (_, None) => Err("has no `password`".to_owned()),
    }
}

/// Words up to the semicolon; quotes hold what they enclose together, a backslash in them the next character.
fn words(text: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), None);
    let mut rest = text.trim().chars();
    while let Some(c) = rest.next() {
        match c {
            c if quoted == Some(c) => quoted = None,
            '"' | '\'' if quoted.is_none() => quoted = Some(c),
            '\\' if quoted.is_some() => word.extend(rest.next()),
            ';' if quoted.is_none() => {
                words.push(word);
                let ends = rest.as_str().trim().is_empty();
                return if ends { Ok(filled(words)) } else { Err("goes on after its `;`".to_owned()) };
            }
            c if c.is_whitespace() && quoted.is_none() => words.push(std::mem::take(&mut word)),
            c => word.push(c),
        }
    }
    Err(if quoted.is_some() { "has a quote that is not closed" } else { "does not end with `;`" }.to_owned())
}

fn filled(words: Vec<String>) -> Vec<String> {
    words.into_iter().filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (Option<&'static str>, String, String) {
        let jaas = parse(text).unwrap();
        (jaas.mechanism, jaas.username, jaas.password)
    }

    #[test]
    fn k095_plain_and_scram_give_user_and_password() {
        let plain =
            r#"org.apache.kafka.common.security.plain.PlainLoginModule required username="anna" password="a b;c";"#;
        assert_eq!(parsed(plain), (Some("PLAIN"), "anna".into(), "a b;c".into()));
        let scram = "org.apache.kafka.common.security.scram.ScramLoginModule required\n  username=anna\n  password=\"\\\"q\\\\\" ; ";
        assert_eq!(parsed(scram), (None, "anna".into(), "\"q\\".into()));
        let single = "x.PlainLoginModule required username='anna' password='a\"b';";
        assert_eq!(parsed(single), (Some("PLAIN"), "anna".into(), "a\"b".into()));
        let shaded = "kafkashaded.org.apache.kafka.common.security.scram.ScramLoginModule required username=\"u\" password=\"p\";";
        assert_eq!(parsed(shaded), (None, "u".into(), "p".into()));
    }

    #[test]
    fn k095_what_cannot_be_understood_is_told_without_its_values() {
        for (text, reason) in [
            ("com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true;", "neither"),
            ("x.PlainLoginModule required username=\"s3cret\";", "no `password`"),
            ("x.PlainLoginModule required password=\"s3cret\";", "no `username`"),
            ("x.PlainLoginModule required username=\"u\" password=\"s3cret\"", "does not end"),
            ("x.PlainLoginModule required username=\"u\" password=\"s3cret;", "not closed"),
            ("x.PlainLoginModule required username=\"u\" password=\"s3cret\"; more", "goes on"),
            ("x.ScramLoginModule required tokenauth=\"s3cret\" username=\"u\" password=\"p\";", "`tokenauth`"),
            ("", "does not end"),
        ] {
            let error = parse(text).err().unwrap();
            assert!(error.contains(reason) && !error.contains("s3cret"), "{text}: {error}");
        }
    }
}
