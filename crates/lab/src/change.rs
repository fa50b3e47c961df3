//! Changes that a variant makes to running nodes, and their undoing.

/// A change of running nodes.
pub trait Change {
    /// Makes the change on all nodes, or returns the reason why not; then nothing has changed.
    fn apply(&mut self) -> Result<(), String>;

    /// Undoes the change, or returns a message about what may remain. Undoing twice has no further effect.
    fn undo(&mut self) -> Result<(), String>;
}

/// Changes that are in force. However a run ends, they are undone, the last one first.
pub(crate) struct Applied {
    changes: Vec<Box<dyn Change>>,
}

impl Applied {
    /// Applies all or, with an error, none.
    pub(crate) fn new(changes: Vec<Box<dyn Change>>) -> Result<Applied, String> {
        let mut applied = Applied { changes: Vec::new() };
        for mut change in changes {
            // If this fails, dropping the list undoes the changes before.
            change.apply()?;
            applied.changes.push(change);
        }
        Ok(applied)
    }

    /// Undoes all changes. Returns messages about those that may remain.
    pub(crate) fn undo(mut self) -> Vec<String> {
        self.undo_all()
    }

    fn undo_all(&mut self) -> Vec<String> {
        std::mem::take(&mut self.changes).iter_mut().rev().filter_map(|change| change.undo().err()).collect()
    }
}

impl Drop for Applied {
    fn drop(&mut self) {
        self.undo_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;

    /// A change that logs its calls.
    struct Noted {
        name: &'static str,
        fails: bool,
        notes: Notes,
    }

    type Notes = Rc<RefCell<Vec<String>>>;

    impl Change for Noted {
        fn apply(&mut self) -> Result<(), String> {
            self.notes.borrow_mut().push(format!("do {}", self.name));
            if self.fails { Err(format!("{} does not work", self.name)) } else { Ok(()) }
        }

        fn undo(&mut self) -> Result<(), String> {
            self.notes.borrow_mut().push(format!("undo {}", self.name));
            if self.name == "stuck" { Err("stuck stays".to_string()) } else { Ok(()) }
        }
    }

    fn changes(names: &[(&'static str, bool)]) -> (Vec<Box<dyn Change>>, Notes) {
        let notes = Rc::new(RefCell::new(Vec::new()));
        let change = |(name, fails): &(&'static str, bool)| -> Box<dyn Change> {
            Box::new(Noted { name, fails: *fails, notes: Rc::clone(&notes) })
        };
        (names.iter().map(change).collect(), notes)
    }

    #[test]
    fn what_was_applied_is_undone_in_reverse_and_once() {
        let (made, notes) = changes(&[("a", false), ("stuck", false), ("b", false)]);
        assert_eq!(Applied::new(made).unwrap().undo(), ["stuck stays"]);
        assert_eq!(*notes.borrow(), ["do a", "do stuck", "do b", "undo b", "undo stuck", "undo a"]);
    }

    #[test]
    fn a_change_that_fails_undoes_those_before_it() {
        let (made, notes) = changes(&[("a", false), ("b", true), ("c", false)]);
        assert_eq!(Applied::new(made).err().unwrap(), "b does not work");
        assert_eq!(*notes.borrow(), ["do a", "do b", "undo a"]);
    }

    #[test]
    fn a_run_that_breaks_off_undoes_all() {
        let (made, notes) = changes(&[("a", false)]);
        drop(Applied::new(made).unwrap());
        assert_eq!(*notes.borrow(), ["do a", "undo a"]);
    }
}
