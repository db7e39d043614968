//! Which note a call is about, as far as its arguments say, and in which project.

use super::digest::{Digest, DigestKey, Digester};
use crate::argument::given::Given;
use crate::note::identifier::{KnownNote, Relation, relation};
use crate::note::path::{NotePath, note_path};
use crate::note::permalink::{self, project_slug};
use crate::note::text::Text;
use crate::tool::Known;

/// The project arguments of a call, as given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ProjectArguments {
    project: Option<Text<'static>>,
    id: Option<Text<'static>>,
    workspace: Option<Text<'static>>,
}

impl ProjectArguments {
    pub(super) fn of(given: &Given) -> ProjectArguments {
        let text = |name| given.text(name).cloned();
        ProjectArguments { project: text("project"), id: text("project_id"), workspace: text("workspace") }
    }

    /// Whether the call says which project it means.
    pub(super) const fn stated(&self) -> bool {
        self.project.is_some() || self.id.is_some()
    }

    /// The project as the call names it.
    pub(super) fn name(&self) -> Option<&str> {
        self.project.as_ref()?.as_str()
    }

    /// The project's slug, where the call names it and the slug is proven. The server takes a name in any case, with outer
    /// spaces and a slash behind it.
    fn slug(&self) -> Option<String> {
        project_slug(self.project.as_ref()?.as_str()?.trim().trim_end_matches('/'))
    }

    /// Whether two calls certainly mean different projects.
    pub(super) fn differ(&self, other: &ProjectArguments) -> bool {
        if self.id.is_some() || other.id.is_some() {
            return self.id.is_some() && other.id.is_some() && self.id != other.id;
        }
        matches!((self.slug(), other.slug()), (Some(a), Some(b)) if a != b)
    }

    /// Every way in which a note's project can be known to be this call's. `switches` counts what may have switched the
    /// connection: a call that names no project means the one that is current, which is the same as long as nothing
    /// switched it.
    fn keys(&self, switches: u64) -> Vec<ProjectKey> {
        match (&self.id, self.slug()) {
            (Some(id), _) => vec![ProjectKey::Id(id.clone())],
            (None, Some(slug)) => vec![ProjectKey::Slug(slug)],
            (None, None) => match &self.project {
                // No slug is proven, but the very same words mean the same project.
                Some(words) => vec![ProjectKey::Words(words.clone())],
                None => vec![ProjectKey::Current(switches)],
            },
        }
    }
}

/// One way of knowing a project.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ProjectKey {
    Id(Text<'static>),
    Slug(String),
    Words(Text<'static>),
    Current(u64),
}

impl ProjectKey {
    fn digest(&self, into: &mut Digester) {
        match self {
            ProjectKey::Id(id) => {
                into.bytes(b"id");
                into.text(id);
            }
            ProjectKey::Words(words) => {
                into.bytes(b"words");
                into.text(words);
            }
            ProjectKey::Slug(slug) => into.bytes(format!("slug {slug}").as_bytes()),
            ProjectKey::Current(switches) => into.bytes(format!("current {switches}").as_bytes()),
        }
    }
}

/// A note as a result named it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// `file_path`, relative to the project.
    pub file_path: Option<String>,
    /// `permalink`.
    pub permalink: Option<String>,
    /// `title`.
    pub title: Option<String>,
}

impl Named {
    /// The project's slug, where the permalink is the file path's own with a prefix before it.
    fn project_prefix(&self) -> Option<&str> {
        let permalink = self.permalink.as_deref()?;
        let own = permalink::of_path(self.file_path.as_deref()?, None)?;
        permalink.strip_suffix(own.as_str())?.strip_suffix('/').filter(|prefix| !prefix.is_empty())
    }

    /// Whether the permalink is not the path's own but a numbered one, as the server makes them for a second note of one
    /// name.
    pub(super) fn has_numbered_permalink(&self) -> bool {
        let Some(permalink) = self.permalink.as_deref() else { return false };
        let Some((_, number)) = permalink.rsplit_once('-') else { return false };
        let numbered = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        let own = self.file_path.as_deref().and_then(|path| permalink::of_path(path, None));
        let is_own = own.is_some_and(|own| permalink == own || permalink.ends_with(&format!("/{own}")));
        numbered && !is_own
    }
}

/// What a write is about.
#[derive(Clone, Debug)]
pub(super) enum Target {
    /// A file path, proven from title and directory.
    Path(NotePath),
    /// Title and directory whose path is not proven.
    Unproven {
        /// The title.
        title: Text<'static>,
        /// The directory.
        directory: Text<'static>,
    },
    /// A note by an identifier that the server resolves.
    Identifier(Text<'static>),
    /// No note: a project, or arguments that name none.
    None,
}

impl Target {
    pub(super) fn of(known: Option<Known>, given: &Given) -> Target {
        match known {
            Some(Known::WriteNote) => {
                let (Some(title), Some(directory)) = (given.text("title"), given.text("directory")) else {
                    return Target::None;
                };
                match note_path(title, directory) {
                    Ok(path) => Target::Path(path),
                    Err(_) => Target::Unproven { title: title.clone(), directory: directory.clone() },
                }
            }
            Some(Known::EditNote | Known::MoveNote | Known::DeleteNote) => {
                given.text("identifier").map_or(Target::None, |text| Target::Identifier(text.clone()))
            }
            _ => Target::None,
        }
    }

    /// The target as given, for "the same call again".
    pub(super) fn digest(&self, into: &mut Digester) {
        match self {
            Target::Path(path) => {
                into.bytes(b"path");
                into.bytes(path.as_str().as_bytes());
            }
            Target::Unproven { title, directory } => {
                into.bytes(b"unproven");
                into.text(title);
                into.text(directory);
            }
            Target::Identifier(identifier) => {
                into.bytes(b"identifier");
                into.text(identifier);
            }
            Target::None => into.bytes(b"none"),
        }
    }

    /// How the target stands to a note that a result named.
    pub(super) fn relation(&self, named: &Named) -> Relation {
        let Some(file_path) = named.file_path.as_deref() else { return Relation::Unknown };
        match self {
            Target::Path(path) if path.as_str() == file_path => Relation::Same,
            Target::Path(_) => Relation::Different,
            Target::Identifier(identifier) => relation(identifier, &known_note(named, file_path)),
            Target::Unproven { .. } | Target::None => Relation::Unknown,
        }
    }
}

/// The note with the title that its file name says, where the result did not say one.
fn known_note<'a>(named: &'a Named, file_path: &'a str) -> KnownNote<'a> {
    let name = file_path.rsplit('/').next().unwrap_or(file_path);
    KnownNote {
        file_path,
        permalink: named.permalink.as_deref(),
        title: named.title.as_deref().or_else(|| name.strip_suffix(".md")),
        project: None,
    }
}

/// How an identifier stands to the note that a path would make.
pub(super) fn identifier_reaches(identifier: &Text<'_>, path: &NotePath) -> Relation {
    let file_path = path.as_str();
    let named =
        Named { file_path: Some(file_path.to_owned()), permalink: permalink::of_path(file_path, None), title: None };
    if identifier.as_str().is_some_and(|text| text == file_path) {
        return Relation::Same;
    }
    relation(identifier, &known_note(&named, file_path))
}

/// Whether a permalink is written so that the server looks it up as it stands: no wrapping, no URL, no outer space.
fn is_own_name(permalink: &str) -> bool {
    !permalink.is_empty()
        && permalink.trim() == permalink
        && !permalink.contains([':', '[', ']', '|'])
        && relation(
            &Text::from(permalink),
            &KnownNote { file_path: "", permalink: Some(permalink), title: None, project: None },
        ) == Relation::Same
}

/// Digests under which a turn remembers what is known of a note.
pub(super) struct Keys<'a> {
    pub(super) key: &'a DigestKey,
    pub(super) switches: u64,
}

impl Keys<'_> {
    fn of(&self, kind: &str, what: &[u8], project: &ProjectKey) -> Digest {
        let mut digester = Digester::new(self.key);
        digester.bytes(kind.as_bytes());
        digester.bytes(what);
        project.digest(&mut digester);
        digester.finish()
    }

    /// What a result proves by naming a note: its path, in each project that it is known to be in.
    pub(super) fn named(&self, named: &Named, arguments: &ProjectArguments, was_switched: bool) -> Vec<Digest> {
        let Some(path) = named.file_path.as_deref() else { return Vec::new() };
        let mut projects = arguments.keys(self.switches);
        // Whatever project the call went to is the current one now.
        projects.push(ProjectKey::Current(self.switches));
        if !arguments.stated()
            && !was_switched
            && let Some(prefix) = named.project_prefix()
        {
            projects.push(ProjectKey::Slug(prefix.to_owned()));
        }
        let mut proven: Vec<Digest> = projects.iter().map(|p| self.of("path", path.as_bytes(), p)).collect();
        // The server looks a permalink up before anything else, and it is unique: it reaches this very note.
        if let Some(permalink) = named.permalink.as_deref().filter(|permalink| is_own_name(permalink)) {
            proven.extend(projects.iter().map(|project| self.of("identifier", permalink.as_bytes(), project)));
        }
        proven
    }

    /// What proves that the note at a path is known.
    pub(super) fn path(&self, path: &NotePath, arguments: &ProjectArguments) -> Vec<Digest> {
        let projects = arguments.keys(self.switches);
        projects.iter().map(|project| self.of("path", path.as_str().as_bytes(), project)).collect()
    }

    /// The same identifier with the same project arguments, while nothing switched the connection in between.
    pub(super) fn identifier(&self, identifier: &Text<'_>, arguments: &ProjectArguments) -> Vec<Digest> {
        let projects = arguments.keys(self.switches);
        projects.iter().map(|project| self.of("identifier", identifier.as_bytes(), project)).collect()
    }

    /// The identifiers under which a note at a path would be found, so that finding nothing proves it absent: the path,
    /// with and without its ending. That one of them was *read* proves nothing of the path, which can name another note.
    pub(super) fn path_as_absent(&self, path: &NotePath, arguments: &ProjectArguments) -> Vec<Digest> {
        let text = path.as_str();
        let bare = text.strip_suffix(".md").unwrap_or(text);
        [text, bare].iter().flat_map(|name| self.identifier(&Text::from(*name), arguments)).collect()
    }
}
