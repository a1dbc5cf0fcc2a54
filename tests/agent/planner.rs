//! Plans by matching words: chooses the tool for a sentence, and the input for a value.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// A tool, as the interface describes it.
#[derive(Debug, Clone)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// The first sentence about it.
    pub doc: String,
    /// Its inputs, once they have been read.
    pub inputs: Vec<Input>,
    /// Method and path; `None` if it is called by its name.
    pub route: Option<(String, String)>,
    /// The tool that runs it by its name, if it is none itself.
    pub run_with: Option<String>,
}

/// An input of a tool.
#[derive(Debug, Clone)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// Its description.
    pub doc: String,
    /// Where it goes: `path`, `query` or `body`; for a command its kind.
    pub place: String,
}

/// Stop words.
const EMPTY: [&str; 22] = [
    "the", "an", "of", "to", "is", "it", "its", "with", "and", "on", "at", "in", "for", "by", "or",
    "as", "that", "this", "which", "up", "be", "are",
];

/// Returns the stemmed words of a text.
pub fn words(text: &str) -> BTreeSet<String> {
    let parts = text.split(|mark: char| !mark.is_alphanumeric());
    let words = parts.map(str::to_lowercase).filter(|word| word.len() > 1);
    words.filter(|word| !EMPTY.contains(&word.as_str())).map(|word| stem(&word)).collect()
}

fn stem(word: &str) -> String {
    let cut = |end: &str| word.strip_suffix(end).filter(|stem| stem.len() > 3);
    cut("ing").or_else(|| cut("ed")).or_else(|| cut("s")).unwrap_or(word).to_owned()
}

/// Returns true if a tool's name and sentence have all words of a sentence.
pub fn covers(tool: &Tool, sentence: &str) -> bool {
    let all: BTreeSet<_> = words(&tool.name).union(&words(&tool.doc)).cloned().collect();
    words(sentence).is_subset(&all)
}

/// Returns the tool that a sentence means.
pub fn choose<'a>(tools: &'a [Tool], sentence: &str) -> Option<&'a Tool> {
    let wanted = words(sentence);
    tools.iter().max_by_key(|tool| fitness(tool, &wanted))
}

fn fitness(tool: &Tool, wanted: &BTreeSet<String>) -> i64 {
    let count = |number: usize| i64::try_from(number).unwrap_or(0);
    let (name, doc) = (words(&tool.name), words(&tool.doc));
    let all: BTreeSet<_> = name.union(&doc).cloned().collect();
    let hits =
        6 * count(name.intersection(wanted).count()) + 5 * count(doc.intersection(wanted).count());
    hits - 2 * count(wanted.difference(&all).count()) - count(all.difference(wanted).count())
}

/// Returns the arguments of a call: each value goes to the input whose name and description its label fits best.
pub fn arguments(tool: &Tool, facts: &[(&str, Value)]) -> Map<String, Value> {
    let mut arguments = Map::new();
    for (label, value) in facts {
        let wanted = words(label);
        let fit = |input: &&Input| {
            let (name, doc) = (words(&input.name), words(&input.doc));
            let count = |number: usize| i64::try_from(number).unwrap_or(0);
            8 * count(name.intersection(&wanted).count())
                - 2 * count(name.difference(&wanted).count())
                + count(doc.intersection(&wanted).count())
        };
        let free = tool.inputs.iter().filter(|input| !arguments.contains_key(&input.name));
        if let Some(best) = free.max_by_key(fit) {
            arguments.insert(best.name.clone(), value.clone());
        }
    }
    arguments
}

/// Applies the fixes of an error to the arguments: the part of JSON Patch that fixes use.
pub fn with_fixes(arguments: &Map<String, Value>, refusal: &Value) -> Option<Map<String, Value>> {
    let mut next = Value::Object(arguments.clone());
    let broken = refusal["validation_errors"].as_array().into_iter().flatten();
    let mut fixes = broken.flat_map(|one| one["fix"].as_array().into_iter().flatten()).peekable();
    let _ = fixes.peek()?;
    for fix in fixes {
        let take = |body: &mut Value, path: &str| {
            let (parent, name) = path.rsplit_once('/')?;
            body.pointer_mut(parent)?.as_object_mut()?.remove(name)
        };
        let path = fix["path"].as_str()?;
        let value = match fix["op"].as_str()? {
            "move" => take(&mut next, fix["from"].as_str()?)?,
            "remove" => {
                let _ = take(&mut next, path)?;
                continue;
            }
            _ => fix["value"].clone(),
        };
        let (parent, name) = path.rsplit_once('/')?;
        next.pointer_mut(parent)?.as_object_mut()?.insert(name.to_owned(), value);
    }
    next.as_object().cloned()
}
