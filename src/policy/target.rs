//! Which note a call is about, as far as its arguments say, and in which project.

use std::cell::OnceCell;

use super::digest::{Digest, DigestKey, Digester};
use super::names::{Words, may_be_id};
use crate::argument::Role;
use crate::argument::given::Given;
use crate::note::identifier::{KnownNote, Relation, as_reference, relation};
use crate::note::path::{NotePath, note_path};
use crate::note::permalink::{self, project_slug};
use crate::note::python;
use crate::note::text::{CodePoint, Text};
use crate::tool::Known;

/// The project arguments of a call, as given. An empty one is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ProjectArguments {
    project: Option<Text<'static>>,
    id: Option<Text<'static>>,
    workspace: Option<Text<'static>>,
}

impl ProjectArguments {
    pub(super) fn of(given: &Given) -> ProjectArguments {
        if !given.entries().any(|entry| entry.family.is_some_and(|family| family.role == Role::Project)) {
            return ProjectArguments::default();
        }
        let named = |text: &&Text<'static>| text.code_points().any(|point| !python::is_space(point));
        let text = |name| given.text(name).filter(named).cloned();
        ProjectArguments { project: text("project"), id: text("project_id"), workspace: text("workspace") }
    }

    /// Whether the call says nothing of a project.
    pub(super) const fn stated_nothing(&self) -> bool {
        self.project.is_none() && self.id.is_none() && self.workspace.is_none()
    }

    /// Whether the call says which project it means.
    pub(super) const fn stated(&self) -> bool {
        self.project.is_some() || self.id.is_some()
    }

    /// Whether the call says anything of where it goes, so that it may switch the connection.
    pub(super) const fn routed(&self) -> bool {
        self.stated() || self.workspace.is_some()
    }

    /// The project as the call names it.
    pub(super) fn name(&self) -> Option<&str> {
        self.project.as_ref()?.as_str()
    }

    /// The project's slug, where the call names it and the slug is proven. The server takes a name in any case, with outer
    /// spaces and a slash behind it.
    fn slug(&self) -> Option<String> {
        project_slug(python::trim(self.name()?).trim_end_matches('/'))
    }

    /// Every way in which a note's project can be known to be this call's. `current` is which project is current, as far as
    /// that is known: a call that names no project means that one.
    fn keys(&self, current: Option<u64>) -> Vec<ProjectKey> {
        if let Some(id) = &self.id {
            return vec![ProjectKey::Id(id.clone())];
        }
        match (&self.workspace, &self.project) {
            // A project of a workspace can also be named with the workspace in front.
            (Some(workspace), project) => {
                let trimmed = |text: &Text<'_>| words(text).unwrap_or_else(|| format!("{:?}", text.as_bytes()));
                let project = project.as_ref().map_or_else(String::new, trimmed);
                vec![ProjectKey::Words(Text::from(format!("{}/{project}", trimmed(workspace))))]
            }
            (None, Some(project)) => match (self.slug(), words(project)) {
                (Some(slug), _) => vec![ProjectKey::Slug(slug)],
                // No slug is proven, but the very same words mean the same project.
                (None, Some(words)) => vec![ProjectKey::Words(Text::from(words))],
                (None, None) => vec![ProjectKey::Words(project.clone())],
            },
            (None, None) => current.map(ProjectKey::Current).into_iter().collect(),
        }
    }

    /// The project, to tell it from another one.
    pub(super) fn compared(&self, key: &DigestKey) -> Project {
        let of = |kind: &str, bytes: &[u8]| {
            let mut digester = Digester::new(key);
            digester.bytes(kind.as_bytes());
            digester.bytes(bytes);
            digester.finish()
        };
        Project {
            id: self.id.as_ref().map(|id| of("id", id.as_bytes())),
            slug: self.slug().filter(|_| self.workspace.is_none()).map(|slug| of("slug", slug.as_bytes())),
        }
    }
}

/// A project's name without what the server takes off its ends.
fn words(project: &Text<'_>) -> Option<String> {
    project.as_str().map(|text| python::trim(text).trim_end_matches('/').to_owned())
}

/// A project, as far as it can be told from another one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Project {
    id: Option<Digest>,
    slug: Option<Digest>,
}

impl Project {
    /// Whether the two are certainly different.
    pub(super) fn differs(&self, other: &Project) -> bool {
        if self.id.is_some() || other.id.is_some() {
            return self.id.is_some() && other.id.is_some() && self.id != other.id;
        }
        self.slug.is_some() && other.slug.is_some() && self.slug != other.slug
    }
}

/// One way of knowing a project.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ProjectKey {
    Id(Text<'static>),
    Slug(String),
    Words(Text<'static>),
    /// The project that is current since the connection was switched for this many times.
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
            ProjectKey::Slug(slug) => {
                into.bytes(b"slug");
                into.bytes(slug.as_bytes());
            }
            ProjectKey::Current(switches) => {
                into.bytes(b"current");
                into.bytes(&switches.to_le_bytes());
            }
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
    /// The project's name, from the lines under a write's heading.
    pub project: Option<String>,
    /// The slug of the file path, once it was asked for.
    own_slug: OnceCell<Option<String>>,
    /// The slug of the project, likewise.
    its_project: OnceCell<Option<String>>,
}

impl Named {
    /// A note with these names.
    #[must_use]
    pub fn new(
        file_path: Option<String>,
        permalink: Option<String>,
        title: Option<String>,
        project: Option<String>,
    ) -> Named {
        Named { file_path, permalink, title, project, ..Named::default() }
    }

    /// The slug of the project that the server says it used.
    pub(super) fn project_slug(&self) -> Option<&str> {
        let name = self.project.as_deref()?;
        self.its_project.get_or_init(|| project_slug(name)).as_deref()
    }

    /// The slug of the file path, which is the permalink that the note gets by itself.
    fn own_slug(&self) -> Option<&str> {
        let path = self.file_path.as_deref()?;
        self.own_slug.get_or_init(|| permalink::of_path(path, None)).as_deref()
    }

    /// What stands before the file path's own slug in the permalink. It looks like the project's slug, but content can set
    /// any permalink.
    fn prefix(&self) -> Option<&str> {
        let permalink = self.permalink.as_deref()?;
        permalink.strip_suffix(self.own_slug()?)?.strip_suffix('/').filter(|prefix| !prefix.is_empty())
    }

    /// Whether the server reaches this note by the identifier itself, so that an edit with the same identifier reaches it
    /// too. A read falls back to a search for a title in any case, which an edit does not make.
    pub(super) fn is_reached_by(&self, key: &DigestKey, identifier: &Text<'_>) -> bool {
        let path = self.file_path.as_deref();
        if may_be_id(identifier) || path.is_some_and(|path| identifier.as_str() == Some(path)) {
            return true;
        }
        // The permalink as it stands is what the server looks up first.
        if self.permalink.as_deref().is_some_and(|permalink| {
            let has_words = |segment: &str| segment.bytes().any(|byte| byte.is_ascii_alphanumeric());
            identifier.as_str() == Some(permalink) && is_own_name(permalink) && permalink.split('/').all(has_words)
        }) {
            return true;
        }
        let points: Vec<CodePoint> = identifier.code_points().collect();
        let Some(reference) = as_reference(&points).into_iter().map(char::from_u32).collect::<Option<String>>() else {
            return false;
        };
        let below = reference.split_once('/').map(|(_, below)| below);
        if self.title.as_deref().is_some_and(|title| title == reference || Some(title) == below) {
            return true;
        }
        let of = |name: Option<&str>| name.and_then(|name| Words::of(key, name));
        Words::of(key, &reference)
            .is_some_and(|words| words.reach(of(path).as_ref(), of(self.permalink.as_deref()).as_ref()))
    }

    /// Whether an identifier is this note's permalink as it stands.
    pub(super) fn is_permalink(&self, identifier: &Text<'_>) -> bool {
        self.permalink.is_some() && self.permalink.as_deref() == identifier.as_str()
    }

    /// Whether the server finds this note by an identifier because it is the note's permalink, or becomes it by the slug rule,
    /// with or without the project in front. That is looked up before titles and paths, and is unique, so that no edit of
    /// another note changes it.
    pub(super) fn is_found_by_permalink(&self, identifier: &Text<'_>) -> bool {
        let (Some(identifier), Some(permalink)) = (identifier.as_str(), self.permalink.as_deref()) else {
            return false;
        };
        if !is_own_name(permalink) {
            return false;
        }
        let below = permalink.split_once('/').map(|(_, below)| below);
        let is = |name: &str| name == permalink || Some(name) == below;
        let file = identifier.strip_suffix(".md").unwrap_or(identifier);
        is(identifier) || permalink::of_path(&format!("{file}.md"), None).is_some_and(|slug| is(&slug))
    }

    /// Whether an identifier still reaches the note after an edit that may have changed its title: it is the note's path,
    /// permalink or title as the edit's result has them.
    pub(super) fn is_still_called(&self, identifier: &Text<'_>) -> bool {
        let Some(identifier) = identifier.as_str() else { return false };
        let path = self.file_path.as_deref();
        let permalink = self.permalink.as_deref();
        [path, path.and_then(|path| path.strip_suffix(".md")), permalink, self.title.as_deref()]
            .contains(&Some(identifier))
            || permalink.and_then(|permalink| permalink.split_once('/')).is_some_and(|(_, below)| below == identifier)
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
}

/// A file path, to compare it with another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FilePath {
    /// As it is.
    pub(super) exact: Digest,
    /// In lower case: a folder takes the casing of one that is there.
    pub(super) folded: Digest,
}

/// Whether a note's permalink is not the path's own but a numbered one, as the server makes them for a second note of one name.
pub(super) fn has_numbered_permalink(told: &crate::evidence::Named<'_>) -> bool {
    let Some(permalink) = told.permalink else { return false };
    let digits = permalink.bytes().rev().take_while(u8::is_ascii_digit).count();
    let before = permalink.len().checked_sub(digits + 1).and_then(|at| permalink.as_bytes().get(at));
    let numbered = digits > 0 && before == Some(&b'-');
    numbered && !told.file_path.is_some_and(|path| permalink::ends_with_own(permalink, path))
}

/// Whether a permalink is written so that the server looks it up as it stands: no wrapping, no URL, no outer space.
fn is_own_name(permalink: &str) -> bool {
    // The usual permalink: words that are no external id.
    let words = |byte: u8| byte.is_ascii_alphanumeric() || b"-_/".contains(&byte);
    let digits = permalink.bytes().filter(|byte| *byte != b'-').count();
    if permalink.bytes().all(words) && digits != 32 && !permalink.split('/').any(str::is_empty) {
        return true;
    }
    let note = KnownNote { file_path: "", permalink: Some(permalink), title: None, project: None };
    python::trim(permalink) == permalink
        && !permalink.contains([':', '[', ']', '|'])
        && relation(&Text::from(permalink), &note) == Relation::Same
}

/// Whether a read and an edit resolve an identifier alike. Where the server's index does not have the one, an edit looks for
/// a file of that name, which takes a backslash for a slash and a slash in front for none.
pub(super) fn is_resolved_alike(identifier: &Text<'_>) -> bool {
    if let Some(given) = identifier.stripped_ascii() {
        return !given.contains(&b'\\') && given.first() != Some(&b'/');
    }
    let points: Vec<CodePoint> = identifier.code_points().collect();
    let given = python::strip(&points);
    !given.contains(&CodePoint::from('\\')) && given.first() != Some(&CodePoint::from('/'))
}

/// The keys of a note that a result named.
pub(super) struct NamedKeys {
    /// Its path, in each project that it is known to be in.
    pub(super) paths: Vec<Digest>,
    /// Its permalink as an identifier, likewise.
    pub(super) names: Vec<Digest>,
}

/// Digests under which a turn remembers what is known of a note.
pub(super) struct Keys<'a> {
    pub(super) key: &'a DigestKey,
    /// Which project is current, by how often the connection may have been switched; `None` where that cannot be told.
    pub(super) current: Option<u64>,
}

impl Keys<'_> {
    fn of(&self, kind: &str, what: &[u8], project: &ProjectKey) -> Digest {
        let mut digester = Digester::new(self.key);
        digester.bytes(kind.as_bytes());
        digester.bytes(what);
        project.digest(&mut digester);
        digester.finish()
    }

    /// A file path, whatever project it is in.
    pub(super) fn file_path(&self, path: &str) -> FilePath {
        let of = |path: &str| {
            let mut digester = Digester::new(self.key);
            digester.bytes(b"file path");
            digester.bytes(path.as_bytes());
            digester.finish()
        };
        let exact = of(path);
        let is_folded = path.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
        FilePath { exact, folded: if is_folded { exact } else { of(&path.to_lowercase()) } }
    }

    /// A permalink, whatever project it is in.
    pub(super) fn permalink(&self, permalink: &[u8]) -> Digest {
        let mut digester = Digester::new(self.key);
        digester.bytes(b"permalink");
        digester.bytes(permalink);
        digester.finish()
    }

    /// The projects that a result's note is known to be in. `own` is the project of this server that the server itself has
    /// said it uses where none is named.
    fn projects(&self, named: &Named, arguments: &ProjectArguments, own: Option<&str>) -> Vec<ProjectKey> {
        let mut projects = arguments.keys(self.current);
        // Whatever project the call went to is the current one now.
        projects.extend(self.current.map(ProjectKey::Current));
        projects.extend(named.project_slug().map(|slug| ProjectKey::Slug(slug.to_owned())));
        if !arguments.routed() && own.is_some() && named.prefix() == own {
            projects.extend(own.map(|own| ProjectKey::Slug(own.to_owned())));
        }
        projects
    }

    /// What a result proves by naming a note: its path, in each project that it is known to be in; and the identifier under
    /// which it is found, likewise: the server looks a permalink up before anything else, and it is unique.
    pub(super) fn named(&self, named: &Named, arguments: &ProjectArguments, own: Option<&str>) -> NamedKeys {
        let projects = self.projects(named, arguments, own);
        let of = |kind: &str, name: Option<&str>| {
            let keys = |name: &str| projects.iter().map(|project| self.of(kind, name.as_bytes(), project)).collect();
            name.map_or_else(Vec::new, keys)
        };
        NamedKeys {
            paths: of("path", named.file_path.as_deref()),
            names: of("identifier", named.permalink.as_deref().filter(|permalink| is_own_name(permalink))),
        }
    }

    /// What proves that the note at a path is known.
    pub(super) fn path(&self, path: &NotePath, arguments: &ProjectArguments) -> Vec<Digest> {
        let projects = arguments.keys(self.current);
        projects.iter().map(|project| self.of("path", path.as_str().as_bytes(), project)).collect()
    }

    /// The same identifier with the same project arguments, while nothing switched the connection in between.
    pub(super) fn identifier(&self, identifier: &Text<'_>, arguments: &ProjectArguments) -> Vec<Digest> {
        let projects = arguments.keys(self.current);
        projects.iter().map(|project| self.of("identifier", identifier.as_bytes(), project)).collect()
    }

    /// The identifiers under which a note at a path would be found, so that finding nothing proves it absent: the path,
    /// with and without its ending. That one of them was *read* proves nothing of the path, which can name another note.
    pub(super) fn absent(&self, path: &str, arguments: &ProjectArguments) -> Vec<Digest> {
        let bare = path.strip_suffix(".md").unwrap_or(path);
        [path, bare].iter().flat_map(|name| self.identifier(&Text::from(*name), arguments)).collect()
    }
}
