//! Checks JSON against a schema of the repository. Supports the keywords that these schemas use.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// A schema file, with the folder of the files that it refers to.
pub struct Schema {
    folder: PathBuf,
    root: Value,
}

impl Schema {
    /// Reads a schema; `path` is relative to the root of the repository.
    pub fn read(path: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let text = fs::read_to_string(&path).expect("the schema");
        let folder = path.parent().expect("a folder").to_path_buf();
        Self { folder, root: serde_json::from_str(&text).expect("JSON") }
    }

    /// Checks a value.
    ///
    /// # Panics
    /// Panics if the value does not match.
    pub fn check(&self, value: &Value) {
        if let Err(why) = self.matches(value, &self.root, "value") {
            panic!("{why}\n{value}");
        }
    }

    fn matches(&self, value: &Value, schema: &Value, place: &str) -> Result<(), String> {
        if let Some(reference) = schema["$ref"].as_str() {
            let (file, pointer) = reference.split_once('#').expect("a reference with #");
            if file.is_empty() {
                return self.matches(value, self.root.pointer(pointer).expect(reference), place);
            }
            let other = self.folder.join(file);
            let relative = other.strip_prefix(env!("CARGO_MANIFEST_DIR")).expect("inside the repository");
            let other = Self::read(relative.to_str().expect("a name"));
            return other.matches(value, other.root.pointer(pointer).expect(reference), place);
        }
        for word in ["anyOf", "oneOf"] {
            if let Some(choices) = schema[word].as_array() {
                let why: Vec<String> =
                    choices.iter().filter_map(|choice| self.matches(value, choice, place).err()).collect();
                if why.len() == choices.len() {
                    return Err(why.join("; "));
                }
            }
        }
        let failed = |why: String| Err(format!("{place}: {why}"));
        if !has_type(value, &schema["type"]) {
            return failed(format!("{value} is not of type {}", schema["type"]));
        }
        if let Some(allowed) = schema["enum"].as_array()
            && !allowed.contains(value)
        {
            return failed(format!("{value} is not allowed"));
        }
        if schema.get("const").is_some_and(|only| only != value) {
            return failed(format!("{value} is not {}", schema["const"]));
        }
        if value.as_f64().zip(schema["minimum"].as_f64()).is_some_and(|(value, minimum)| value < minimum) {
            return failed(format!("{value} is too small"));
        }
        for (i, item) in value.as_array().into_iter().flatten().enumerate() {
            self.matches(item, &schema["items"], &format!("{place}[{i}]"))?;
        }
        let Some(fields) = value.as_object() else { return Ok(()) };
        for required in schema["required"].as_array().into_iter().flatten() {
            let required = required.as_str().expect("a name");
            if !fields.contains_key(required) {
                return failed(format!("{required} is missing"));
            }
        }
        for (key, field) in fields {
            match (&schema["properties"][key], &schema["additionalProperties"]) {
                (Value::Null, Value::Bool(false)) => return failed(format!("{key} is not in the schema")),
                (Value::Null, other) => self.matches(field, other, &format!("{place}.{key}"))?,
                (known, _) => self.matches(field, known, &format!("{place}.{key}"))?,
            }
        }
        Ok(())
    }
}

/// Whether a value has the type, or one of the types, that a schema allows; any type if the schema does not restrict
/// it.
fn has_type(value: &Value, allowed: &Value) -> bool {
    match allowed {
        Value::Null => true,
        Value::Array(several) => several.iter().any(|one| has_type(value, one)),
        name => match name.as_str().expect("a type") {
            "null" => value.is_null(),
            "boolean" => value.is_boolean(),
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            "string" => value.is_string(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            other => panic!("unknown type {other}"),
        },
    }
}
