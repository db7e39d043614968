//! A memory server that resolves names as Basic Memory 0.24.1 does, traps included: the current project sticks, a path can
//! name another note, a title can be found in any case by a read and not by an edit, a first heading takes the title along,
//! and content can set any free permalink. What it does not copy: text, the index, the disk.

#![allow(clippy::case_sensitive_file_extension_comparisons, reason = "the server compares them so")]

use dsh_bmpp::note::path::note_path;
use dsh_bmpp::note::permalink;
use serde_json::{Value, json};

/// The projects that there are; the first is the default.
pub const PROJECTS: [&str; 2] = ["main", "work"];

#[derive(Clone, Debug)]
pub struct Note {
    /// Never used twice.
    pub id: usize,
    pub project: usize,
    pub path: String,
    pub title: String,
    pub permalink: String,
    /// Its first heading.
    pub heading: Option<String>,
}

impl Note {
    pub fn external_id(&self) -> String {
        format!("00000000-0000-4000-8000-{:012}", self.id)
    }

    fn answer(&self, heading: &str) -> String {
        let (path, permalink, project) = (&self.path, &self.permalink, PROJECTS[self.project]);
        format!("# {heading}\nproject: {project}\nfile_path: {path}\npermalink: {permalink}\nchecksum: 0123abcd\n")
    }

    fn json(&self, more: &Value) -> String {
        let mut value = json!({ "title": self.title, "permalink": self.permalink, "file_path": self.path });
        value.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        value.to_string()
    }
}

/// What a call did, and what it answers.
pub struct Done {
    pub answer: String,
    pub is_error: bool,
    /// The note that it read or wrote, as it was found.
    pub note: Option<usize>,
    /// It wrote over something that was there before.
    pub replaced: bool,
    /// It made the note.
    pub created: bool,
}

impl Done {
    fn refused(answer: impl Into<String>, is_error: bool) -> Done {
        Done { answer: answer.into(), is_error, note: None, replaced: false, created: false }
    }
}

#[derive(Debug, Default)]
pub struct Server {
    pub notes: Vec<Note>,
    /// The connection's project.
    current: usize,
    next: usize,
}

fn slug(name: &str) -> String {
    let name = name.strip_suffix(".md").unwrap_or(name);
    let plain = name.trim_matches('/');
    permalink::of_path(&format!("{plain}.md"), None).unwrap_or_else(|| plain.to_lowercase())
}

fn text<'a>(args: &'a Value, name: &str) -> Option<&'a str> {
    args.get(name).and_then(Value::as_str)
}

impl Server {
    fn project(name: &str) -> Option<usize> {
        PROJECTS.iter().position(|project| slug(name.trim().trim_end_matches('/')) == *project)
    }

    /// Where a call goes; the connection stays there. A project that does not exist is refused.
    fn route(&mut self, args: &Value, reads: bool) -> Option<usize> {
        let identifier = text(args, "identifier").unwrap_or_default().trim();
        let url = identifier.strip_prefix("memory://");
        let first = url.or(reads.then_some(identifier)).and_then(|path| path.split_once('/')).map(|(first, _)| first);
        let named = text(args, "project").filter(|project| !project.trim().is_empty());
        let routed = first.and_then(Server::project);
        let project = match named {
            Some(name) => Server::project(name)?,
            None => routed.unwrap_or(self.current),
        };
        // Where the identifier of a call names another project than its argument, that one is remembered.
        self.current = if named.is_some() && url.is_some() { routed.unwrap_or(project) } else { project };
        Some(project)
    }

    /// Every path that an identifier can name, the literal one first.
    fn readings(project: usize, identifier: &str) -> Vec<String> {
        let url = identifier.strip_prefix("memory://");
        let path = url.unwrap_or(identifier);
        let below = path.split_once('/').filter(|_| slug(path).starts_with(&format!("{}/", PROJECTS[project])));
        match (below, url) {
            (None, _) => vec![path.to_owned()],
            (Some((_, below)), Some(_)) => vec![below.to_owned()],
            (Some((_, below)), None) => vec![path.to_owned(), below.to_owned()],
        }
    }

    /// The note that an identifier reaches, by exact names only. An error: several have the title.
    fn resolve(&self, project: usize, identifier: &str) -> Result<Option<usize>, ()> {
        let clean = identifier.trim();
        let clean = clean.strip_prefix("[[").and_then(|link| link.strip_suffix("]]")).unwrap_or(clean);
        let clean = clean.split('|').next().unwrap_or_default().trim();
        let own = || self.notes.iter().enumerate().filter(|(_, note)| note.project == project);
        let at = |found: &dyn Fn(&Note) -> bool| own().find(|(_, note)| found(note)).map(|(at, _)| at);
        if let Some(path) = clean.strip_prefix("./").or_else(|| clean.strip_prefix('/')) {
            return Ok(at(&|note| note.path == path));
        }
        if let Some(found) = at(&|note| note.external_id() == clean.to_lowercase()) {
            return Ok(Some(found));
        }
        for reading in Server::readings(project, clean) {
            let titled: Vec<usize> = own().filter(|(_, note)| note.title == reading).map(|(at, _)| at).collect();
            let exact = reading.trim_matches('/').to_owned();
            let slugged = slug(&reading);
            let own_prefix = format!("{}/", PROJECTS[project]);
            let canonical =
                if slugged.starts_with(&own_prefix) { slugged.clone() } else { format!("{own_prefix}{slugged}") };
            let mut candidates = vec![exact.clone(), slugged.clone(), canonical];
            candidates.extend(exact.strip_prefix(&own_prefix).map(str::to_owned));
            candidates.extend(slugged.strip_prefix(&own_prefix).map(str::to_owned));
            for candidate in candidates {
                if let Some(found) = at(&|note| note.permalink == candidate) {
                    if titled.len() > 1 && candidate != exact {
                        break;
                    }
                    return Ok(Some(found));
                }
            }
            if let [only] = titled.as_slice() {
                return Ok(Some(*only));
            }
            let file = if reading.ends_with(".md") { reading.clone() } else { format!("{reading}.md") };
            if let Some(found) = at(&|note| note.path == reading).or_else(|| at(&|note| note.path == file)) {
                return Ok(Some(found));
            }
            let alias = |path: &str| path.to_lowercase().replace('_', "-");
            let like: Vec<usize> = own().filter(|(_, n)| alias(&n.path) == alias(&file)).map(|(at, _)| at).collect();
            if let [only] = like.as_slice() {
                return Ok(Some(*only));
            }
            if titled.len() > 1 {
                return Err(());
            }
        }
        Ok(None)
    }

    pub fn read_note(&mut self, args: &Value) -> Done {
        let identifier = text(args, "identifier").unwrap_or_default();
        let Some(project) = self.route(args, true) else {
            return Done::refused("Error calling tool: no project", true);
        };
        let json = text(args, "output_format") == Some("json");
        let found = match self.resolve(project, identifier) {
            Ok(found) => found,
            // As text, the first of several is taken without a word.
            Err(()) if json => return Done::refused("Error calling tool: ambiguous", true),
            Err(()) => self.notes.iter().position(|n| n.project == project && n.title == identifier.trim()),
        };
        let in_any_case = |note: &Note| {
            note.project == project && note.title.trim().to_lowercase() == identifier.trim().to_lowercase()
        };
        let found =
            found.or_else(|| (!identifier.ends_with(".md")).then(|| self.notes.iter().position(in_any_case)).flatten());
        match found {
            Some(at) if json => {
                let answer = self.notes[at].json(&json!({ "content": "text" }));
                Done { answer, is_error: false, note: Some(at), replaced: false, created: false }
            }
            Some(at) => Done { answer: "text".to_owned(), ..Done { note: Some(at), ..Done::refused("", false) } },
            None if json => Done::refused(json!({ "error": "NOTE_NOT_FOUND", "file_path": null }).to_string(), false),
            None => Done::refused("\n# Note Not Found in main", false),
        }
    }

    fn is_free(&self, project: usize, permalink: &str) -> bool {
        !self.notes.iter().any(|note| note.project == project && note.permalink == permalink)
    }

    fn add(
        &mut self,
        project: usize,
        path: String,
        title: String,
        wanted: Option<&str>,
        heading: Option<String>,
    ) -> usize {
        let mut permalink = permalink::of_path(&path, Some(PROJECTS[project])).unwrap_or_else(|| path.to_lowercase());
        if let Some(wanted) = wanted.filter(|wanted| self.is_free(project, wanted)) {
            wanted.clone_into(&mut permalink);
        }
        while !self.is_free(project, &permalink) {
            permalink.push_str("-1");
        }
        self.next += 1;
        self.notes.push(Note { id: self.next, project, path, title, permalink, heading });
        self.notes.len() - 1
    }

    /// `content` may be `permalink: x`, `# heading`, or any other text.
    pub fn write_note(&mut self, args: &Value) -> Done {
        let Some(project) = self.route(args, false) else {
            return Done::refused("Error calling tool: no project", true);
        };
        let (title, directory) = (text(args, "title").unwrap_or_default(), text(args, "directory").unwrap_or_default());
        let Ok(path) = note_path(&title.into(), &directory.into()) else { return Done::refused("# Error", true) };
        // A folder takes the casing of one that is there.
        let folders = || self.notes.iter().filter(|n| n.project == project).filter_map(|n| n.path.rsplit_once('/'));
        let same: std::collections::BTreeSet<&str> = folders()
            .map(|(folder, _)| folder)
            .filter(|folder| folder.to_lowercase() == path.directory().to_lowercase())
            .collect();
        let path = match same.into_iter().collect::<Vec<_>>().as_slice() {
            [only] => format!("{only}/{}", path.as_str().rsplit('/').next().unwrap_or_default()),
            _ => path.as_str().to_owned(),
        };
        let content = text(args, "content").unwrap_or_default();
        let (wanted, heading) = (content.strip_prefix("permalink: "), content.strip_prefix("# ").map(str::to_owned));
        let overwrite = args.get("overwrite") == Some(&json!(true));
        let json = text(args, "output_format") == Some("json");
        let slugged = slug(&path);
        let there = self.notes.iter().position(|note| note.project == project && note.path == path);
        let taken = self.notes.iter().any(|n| n.project == project && n.path != path && slug(&n.path) == slugged);
        let (at, action) = match there {
            Some(_) if !overwrite => return Done::refused("# Error: Note already exists", true),
            Some(at) => {
                if let Some(wanted) = wanted.filter(|wanted| self.is_free(project, wanted)) {
                    wanted.clone_into(&mut self.notes[at].permalink);
                }
                title.clone_into(&mut self.notes[at].title);
                self.notes[at].heading = heading;
                (at, "updated")
            }
            None if taken => return Done::refused("# Error: Note is at a different path", true),
            None => (self.add(project, path, title.to_owned(), wanted, heading), "created"),
        };
        let note = &self.notes[at];
        let answer = match (json, action) {
            (true, action) => note.json(&json!({ "action": action })),
            (false, "created") => note.answer("Created note"),
            _ => note.answer("Updated note"),
        };
        Done { answer, is_error: false, note: Some(at), replaced: there.is_some(), created: there.is_none() }
    }

    /// `content` is added, or takes the place of `find_text`; `title: x` and `permalink: x` are lines of the frontmatter.
    pub fn edit_note(&mut self, args: &Value) -> Done {
        let identifier = text(args, "identifier").unwrap_or_default();
        let Some(project) = self.route(args, false) else {
            return Done::refused("Error calling tool: no project", true);
        };
        let (operation, content) =
            (text(args, "operation").unwrap_or_default(), text(args, "content").unwrap_or_default().to_owned());
        let json = text(args, "output_format") == Some("json");
        let Ok(found) = self.resolve(project, identifier) else { return Done::refused("# Edit Failed", true) };
        // A file that the index does not know by this name is looked for on the disk.
        let file = identifier.trim().replace('\\', "/");
        let file = file.trim_start_matches('/').trim_end_matches(".md").to_lowercase() + ".md";
        let found =
            found.or_else(|| self.notes.iter().position(|n| n.project == project && n.path.to_lowercase() == file));
        let adds = matches!(operation, "append" | "prepend");
        let Some(at) = found else {
            if !adds || identifier.starts_with("memory://") {
                return Done::refused("# Edit Failed - Note Not Found", true);
            }
            let (directory, title) = identifier.trim().rsplit_once('/').unwrap_or(("", identifier.trim()));
            let title = title.strip_suffix(".md").unwrap_or(title).to_owned();
            let Ok(path) = note_path(&title.as_str().into(), &directory.into()) else {
                return Done::refused("# Error", true);
            };
            let (path, slugged) = (path.as_str().to_owned(), slug(path.as_str()));
            if self.notes.iter().any(|n| n.project == project && slug(&n.path) == slugged) {
                return Done::refused("# Edit Failed", true);
            }
            let at = self.add(project, path, title, content.strip_prefix("permalink: "), None);
            let told = json!({ "operation": operation, "fileCreated": true });
            let note = &self.notes[at];
            let answer = if json { note.json(&told) } else { note.answer(&format!("Created note ({operation})")) };
            return Done { answer, is_error: false, note: Some(at), replaced: false, created: true };
        };
        let free =
            content.strip_prefix("permalink: ").filter(|wanted| self.is_free(project, wanted)).map(str::to_owned);
        let note = &mut self.notes[at];
        match (operation, content.split_once(": ")) {
            ("find_replace", Some(("title", title))) => title.clone_into(&mut note.title),
            ("find_replace", Some(("permalink", _))) => note.permalink = free.unwrap_or_else(|| note.permalink.clone()),
            // A first heading that was the title takes the title along.
            ("prepend", _) if content.starts_with("# ") => {
                if note.heading.as_ref() == Some(&note.title) {
                    content.trim_start_matches("# ").clone_into(&mut note.title);
                }
                note.heading = Some(content.trim_start_matches("# ").to_owned());
            }
            _ => {}
        }
        let told = json!({ "operation": operation, "fileCreated": false });
        let note = &self.notes[at];
        let answer = if json { note.json(&told) } else { note.answer(&format!("Edited note ({operation})")) };
        let replaced = operation == "find_replace" || args.get("metadata").is_some();
        Done { answer, is_error: false, note: Some(at), replaced, created: false }
    }

    pub fn move_note(&mut self, args: &Value) -> Done {
        let Some(project) = self.route(args, false) else {
            return Done::refused("Error calling tool: no project", true);
        };
        let Ok(Some(at)) = self.resolve(project, text(args, "identifier").unwrap_or_default()) else {
            return Done::refused("# Move Failed - Note Not Found", true);
        };
        let to = text(args, "destination_path").unwrap_or_default();
        if self.notes.iter().any(|n| n.project == project && n.path.to_lowercase() == to.to_lowercase()) {
            return Done::refused("# Move Failed - Destination Exists", true);
        }
        to.clone_into(&mut self.notes[at].path);
        let answer = "✅ Note moved successfully".to_owned();
        Done { answer, is_error: false, note: Some(at), replaced: false, created: false }
    }

    /// The id of the note that is gone is told by the caller's own look before.
    pub fn delete_note(&mut self, args: &Value) -> Done {
        let Some(project) = self.route(args, false) else {
            return Done::refused("Error calling tool: no project", true);
        };
        let Ok(Some(at)) = self.resolve(project, text(args, "identifier").unwrap_or_default()) else {
            return Done::refused("false", false);
        };
        let answer = match text(args, "output_format") {
            Some("json") => self.notes[at].json(&json!({ "deleted": true })),
            _ => "true".to_owned(),
        };
        self.notes.remove(at);
        Done { note: Some(usize::MAX), ..Done::refused(answer, false) }
    }
}
