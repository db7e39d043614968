//! Room for the record schema and the replay of a trail against the rules. Empty until the durable audit.
