//! Room for note identity: (title, directory, project) → file path and permalink. Empty until the guards that need it.
