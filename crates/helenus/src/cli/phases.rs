//! The phases of a load on the command line, where their order matters: `--rate 1k --for 10s --steps 1k..5k/1k --each 5s`.

use anyhow::Result;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use helenus_load::{Phase, schedule};

/// The flags about phases in the order in which they were given.
#[derive(Debug)]
pub struct Phases(Vec<(&'static str, String)>);

/// A flag, the name of its value (empty if it takes none), and its help.
const FLAGS: &[(&str, &str, &str)] = &[
    ("rate", "RATE", "A phase of so many requests per second, such as 5k (open loop)"),
    ("steps", "FROM..TO/STEP", "A phase for each rate, such as 2k..20k/2k (open loop)"),
    ("ramp", "FROM..TO", "A phase whose rate grows evenly, such as 1k..10k (open loop)"),
    (
        "trace",
        "FILE",
        "A phase with a request at each time of a file: a line each, in seconds or with ms, us or ns (open loop)",
    ),
    (
        "surge",
        "GROUPS",
        "A phase of so many groups of clients that join one after the other, with --every, --in-flight and --count (closed loop)",
    ),
    ("every", "DURATION", "The time between two groups that join the last --surge"),
    (
        "in-flight",
        "N",
        "A phase with so many requests in flight at any time (closed loop); after --surge, those of each group",
    ),
    (
        "poisson",
        "",
        "Let the requests of the last phase start at random at its rate, as those of many clients do, and not evenly",
    ),
    ("for", "DURATION", "How long the last phase takes, such as 60s"),
    ("each", "DURATION", "How long each of the last --steps takes"),
    ("count", "N", "How many requests the last phase, or each group of a surge, sends"),
    ("name", "NAME", "Name of the last phase"),
    ("warm-up", "DURATION", "Before all, so long at the first phase's load; recorded, and not judged"),
];

impl Phases {
    pub fn read(&self) -> Result<Vec<Phase>> {
        Ok(schedule::from_arguments(self.0.iter().map(|(flag, value)| (*flag, value.as_str())))?)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Args for Phases {
    fn augment_args(command: Command) -> Command {
        let heading = "Phases, in the order in which they are given";
        let flags = FLAGS.iter().map(|(flag, value, help)| {
            let flag = Arg::new(*flag).long(*flag).help(*help).action(ArgAction::Append).help_heading(heading);
            match *value {
                // A flag without a value gets an empty one, to keep its position.
                "" => flag.num_args(0).default_missing_value(""),
                value => flag.value_name(value),
            }
        });
        command.args(flags)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Phases::augment_args(command)
    }
}

impl FromArgMatches for Phases {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Phases, clap::Error> {
        let mut given: Vec<(usize, &'static str, String)> = Vec::new();
        for (flag, ..) in FLAGS {
            let values = matches.get_many::<String>(flag).into_iter().flatten();
            let places = matches.indices_of(flag).into_iter().flatten();
            given.extend(places.zip(values).map(|(place, value)| (place, *flag, value.clone())));
        }
        given.sort_unstable();
        Ok(Phases(given.into_iter().map(|(_, flag, value)| (flag, value)).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Phases::from_arg_matches(matches)?;
        Ok(())
    }
}
