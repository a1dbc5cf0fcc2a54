//! The part of GraphQL that clients of this network use: one operation, variables, fields with arguments, aliases and
//! selections. Fragments and directives are refused.

use serde_json::{Map, Value};

/// A requested field.
#[derive(Debug, PartialEq)]
pub(super) struct Field {
    /// Its name in the response.
    pub alias: String,
    pub name: String,
    pub arguments: Map<String, Value>,
    pub fields: Vec<Self>,
}

/// An operation.
#[derive(Debug, PartialEq)]
pub(super) struct Operation {
    pub is_mutation: bool,
    /// The types of its variables.
    pub variables: Vec<String>,
    pub fields: Vec<Field>,
}

/// Parses a document with one operation.
pub(super) fn parse(document: &str, variables: &Value) -> Result<Operation, String> {
    let mut reader = Reader { words: tokens(document), at: 0, variables };
    let (mut is_mutation, mut types) = (false, Vec::new());
    if let Some(kind) = reader.peek().filter(|word| *word != "{").map(str::to_owned) {
        is_mutation = kind == "mutation";
        if !is_mutation && kind != "query" {
            return Err(format!("Unexpected Name \"{kind}\"."));
        }
        reader.at += 1;
        // Its name is not needed here.
        while reader.peek().is_some_and(|word| word != "{" && word != "(") {
            reader.at += 1;
        }
        types = reader.variable_types()?;
    }
    Ok(Operation { is_mutation, variables: types, fields: reader.selection()? })
}

/// Splits a document into tokens: names, numbers, quoted texts, and punctuators.
fn tokens(document: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = document.trim_start();
    while let Some(first) = rest.chars().next() {
        let size = match first {
            ',' | '\u{feff}' => 0,
            '#' => 0,
            '"' => {
                let mut escaped = false;
                let end = rest[1..].find(|c| {
                    let ends = c == '"' && !escaped;
                    escaped = c == '\\' && !escaped;
                    ends
                });
                end.map_or(rest.len(), |end| end + 2)
            }
            c if c.is_alphanumeric() || "_$-.".contains(c) => rest
                .find(|c: char| !c.is_alphanumeric() && !"_$-.".contains(c))
                .unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let skipped =
            if first == '#' { rest.find('\n').unwrap_or(rest.len()) } else { first.len_utf8() };
        if size > 0 {
            words.push(rest[..size].to_owned());
        }
        rest = rest[if size > 0 { size } else { skipped }..].trim_start();
    }
    words
}

struct Reader<'a> {
    words: Vec<String>,
    at: usize,
    variables: &'a Value,
}

impl Reader<'_> {
    fn peek(&self) -> Option<&str> {
        self.words.get(self.at).map(String::as_str)
    }

    fn next(&mut self) -> Result<String, String> {
        let word = self.words.get(self.at).cloned();
        self.at += 1;
        word.ok_or_else(|| "Syntax Error: Unexpected <EOF>.".to_owned())
    }

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        let found = self.next()?;
        if found == sign {
            Ok(())
        } else {
            Err(format!("Syntax Error: Expected \"{sign}\", found \"{found}\"."))
        }
    }

    /// `($name: Type! …)`, if it is there.
    fn variable_types(&mut self) -> Result<Vec<String>, String> {
        let mut types = Vec::new();
        while self.peek().is_some_and(|word| word != "{") {
            let word = self.next()?;
            if word.starts_with(char::is_alphabetic) {
                types.push(word);
            }
        }
        Ok(types)
    }

    /// `{ field field … }`
    fn selection(&mut self) -> Result<Vec<Field>, String> {
        self.expect("{")?;
        let mut fields = Vec::new();
        while self.peek() != Some("}") {
            fields.push(self.field()?);
        }
        self.at += 1;
        Ok(fields)
    }

    fn field(&mut self) -> Result<Field, String> {
        let alias = self.next()?;
        if !alias.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            return Err(format!("Syntax Error: Expected Name, found \"{alias}\"."));
        }
        let mut name = alias.clone();
        if self.peek() == Some(":") {
            self.at += 1;
            name = self.next()?;
        }
        let mut arguments = Map::new();
        if self.peek() == Some("(") {
            self.at += 1;
            arguments = self.pairs(")")?;
        }
        let fields = if self.peek() == Some("{") { self.selection()? } else { Vec::new() };
        Ok(Field { alias, name, arguments, fields })
    }

    /// `name: value …` up to `end`.
    fn pairs(&mut self, end: &str) -> Result<Map<String, Value>, String> {
        let mut pairs = Map::new();
        while self.peek() != Some(end) {
            let name = self.next()?;
            self.expect(":")?;
            pairs.insert(name, self.value()?);
        }
        self.at += 1;
        Ok(pairs)
    }

    fn value(&mut self) -> Result<Value, String> {
        let word = self.next()?;
        if let Some(name) = word.strip_prefix('$') {
            return Ok(self.variables[name].clone());
        }
        match word.as_str() {
            "{" => Ok(Value::Object(self.pairs("}")?)),
            "[" => {
                let mut items = Vec::new();
                while self.peek() != Some("]") {
                    items.push(self.value()?);
                }
                self.at += 1;
                Ok(Value::Array(items))
            }
            // A name is an enum value.
            text => Ok(serde_json::from_str(text).unwrap_or_else(|_| text.into())),
        }
    }
}

/// Returns the requested fields of `whole`; `Err` names one that does not exist.
pub(super) fn pick(whole: &Value, fields: &[Field], of: &str) -> Result<Value, String> {
    match whole {
        Value::Array(items) => items
            .iter()
            .map(|item| pick(item, fields, of))
            .collect::<Result<_, _>>()
            .map(Value::Array),
        Value::Object(map) => {
            let mut picked = Map::new();
            for field in fields {
                let unknown = || format!("Cannot query field \"{}\" on type \"{of}\".", field.name);
                let value = map.get(&field.name).ok_or_else(unknown)?;
                if field.fields.is_empty()
                    && (value.is_object() || value.is_array() && value[0].is_object())
                {
                    return Err(format!(
                        "Field \"{}\" must have a selection of subfields.",
                        field.name
                    ));
                }
                picked.insert(field.alias.clone(), pick(value, &field.fields, &field.name)?);
            }
            Ok(Value::Object(picked))
        }
        other => Ok(other.clone()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{parse, pick};

    #[test]
    fn an_operation_is_read_with_its_variables() {
        let document = "query Q($id: ObjectId!) { a: publication(id: $id, n: 5, t: \"x \\\" y\") { post(slug: \"s\") { id } } }";
        let read = parse(document, &json!({"id": "7"})).unwrap();
        assert!(!read.is_mutation);
        let field = &read.fields[0];
        assert_eq!((field.alias.as_str(), field.name.as_str()), ("a", "publication"));
        assert_eq!(json!(field.arguments), json!({"id": "7", "n": 5, "t": "x \" y"}));
        assert_eq!(field.fields[0].fields[0].name, "id");
        assert!(
            parse(
                "mutation { publishPost(input: {tags: [{slug: \"a\"}]}) { post { id } } }",
                &json!({})
            )
            .unwrap()
            .is_mutation
        );
        for broken in ["", "query {", "subscription { a }", "{ a(b) }", "{ ...f }"] {
            assert!(parse(broken, &json!({})).is_err(), "{broken}");
        }
    }

    #[test]
    fn only_what_was_asked_for_is_answered() {
        let whole = json!({"me": {"id": 1, "name": "x", "edges": [{"node": {"id": 2}}]}});
        let pick =
            |document: &str| pick(&whole, &parse(document, &json!({})).unwrap().fields, "Query");
        assert_eq!(pick("{ you: me { id } }").unwrap(), json!({"you": {"id": 1}}));
        assert_eq!(
            pick("{ me { edges { node { id } } } }").unwrap(),
            json!({"me": {"edges": [{"node": {"id": 2}}]}})
        );
        assert_eq!(
            pick("{ me { ids } }").unwrap_err(),
            "Cannot query field \"ids\" on type \"me\"."
        );
        assert!(pick("{ me }").is_err());
    }
}
