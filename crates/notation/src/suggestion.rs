//! Suggests the name that was probably meant by a misspelt one.

/// `; did you mean …?` for the known name that is most like `given`, or nothing when none is near.
pub fn did_you_mean<'k>(given: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    match nearest(given, known) {
        Some(known) => format!("; did you mean `{known}`?"),
        None => String::new(),
    }
}

/// The known name that is most like `given`, if one is near.
pub fn nearest<'k>(given: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    known
        .into_iter()
        // Two swapped letters in a short word are a common slip, which the similarity measure does not rate highly
        // enough.
        .map(|known| match strsim::osa_distance(given, known) {
            0..=1 => (1.0, known),
            _ => (strsim::jaro_winkler(given, known), known),
        })
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|(left, _), (right, _)| left.total_cmp(right))
        .map(|(_, known)| known)
}
