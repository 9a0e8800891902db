use serde::{Deserialize, Serialize};

/// What one step did and how well.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Report {
    /// Contacts that acted on the hair.
    pub contacts: u64,
    /// Iterations of the method, where it iterates.
    pub iterations: u32,
    /// The method's own measure of what is left unsolved, where it has one.
    pub residual: f64,
    /// Strands held at both ends whose ends are farther apart than the strand is long.
    pub out_of_reach: u32,
    /// Pairs of edges of lone strands that passed through each other though they were looked for.
    pub crossings: u32,
    /// How far vertices of the groom are at most from the curves that the method made of them, where it makes curves [m].
    pub misfit: f64,
    /// Time steps that the method took, where it chooses their length.
    pub time_steps: TimeSteps,
    /// Contact problems solved on the way, where the method has all contacts of a step in one.
    pub contact_problems: ContactProblems,
    /// Energy of the hair at the end of the step, where the method knows it.
    pub energy: Option<Energy>,
    /// Time of each phase.
    pub phases: Vec<Phase>,
}

/// Time steps of a length that the method chooses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TimeSteps {
    /// How many were taken.
    pub count: u32,
    /// How many were given up for shorter ones.
    pub refused: u32,
    /// The shortest that was taken [s]; 0 where none was.
    pub shortest: f64,
}

impl std::ops::AddAssign for TimeSteps {
    fn add_assign(&mut self, other: Self) {
        self.shortest = match (self.count, other.count) {
            (0, _) => other.shortest,
            (_, 0) => self.shortest,
            _ => self.shortest.min(other.shortest),
        };
        self.count += other.count;
        self.refused += other.refused;
    }
}

/// What contact problems took and how well they were solved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ContactProblems {
    /// How many there were.
    pub count: u32,
    /// How many were not solved within tolerance.
    pub unsolved: u32,
    /// Contacts in all of them, touching or about to.
    pub contacts: u64,
    /// Most contacts in one of them.
    pub most_contacts: u64,
    /// Contacts with forces in all of them.
    pub acting: u64,
    /// The largest error of any of them.
    pub worst: f64,
    /// Sweeps over contacts.
    pub sweeps: u64,
    /// Steps of interior points.
    pub interior_steps: u64,
    /// Single contacts solved.
    pub local_solves: u64,
    /// Single contacts for which the fail-safe was asked and found a force.
    pub fail_safe: u64,
    /// Single contacts for which nothing was found.
    pub failed: u64,
    /// The largest coefficient of friction between strands.
    pub hair_friction: f64,
    /// The largest coefficient of friction with a body.
    pub body_friction: f64,
}

impl std::ops::AddAssign for ContactProblems {
    fn add_assign(&mut self, other: Self) {
        self.count += other.count;
        self.unsolved += other.unsolved;
        self.contacts += other.contacts;
        self.most_contacts = self.most_contacts.max(other.most_contacts);
        self.acting += other.acting;
        self.worst = self.worst.max(other.worst);
        self.sweeps += other.sweeps;
        self.interior_steps += other.interior_steps;
        self.local_solves += other.local_solves;
        self.fail_safe += other.fail_safe;
        self.failed += other.failed;
        self.hair_friction = self.hair_friction.max(other.hair_friction);
        self.body_friction = self.body_friction.max(other.body_friction);
    }
}

/// Energy of all hair [J].
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Energy {
    /// Of motion.
    pub kinetic: f64,
    /// Of bending, twisting and stretching.
    pub elastic: f64,
    /// Of height over the origin, along gravity.
    pub gravity: f64,
}

impl Energy {
    /// All of it [J].
    pub fn total(&self) -> f64 {
        self.kinetic + self.elastic + self.gravity
    }
}

impl std::ops::AddAssign for Energy {
    fn add_assign(&mut self, other: Self) {
        self.kinetic += other.kinetic;
        self.elastic += other.elastic;
        self.gravity += other.gravity;
    }
}

/// Time spent in one phase of a step.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Phase {
    /// Name of the phase.
    pub name: &'static str,
    /// Wall time [s].
    pub seconds: f64,
}

impl Report {
    /// Runs one phase of a step and notes its wall time.
    pub fn time<T>(&mut self, name: &'static str, phase: impl FnOnce() -> T) -> T {
        let start = std::time::Instant::now();
        let result = phase();
        self.add_seconds(name, start.elapsed().as_secs_f64());
        result
    }

    /// Adds time to a phase.
    pub fn add_seconds(&mut self, name: &'static str, seconds: f64) {
        match self.phases.iter_mut().find(|phase| phase.name == name) {
            Some(phase) => phase.seconds += seconds,
            None => self.phases.push(Phase { name, seconds }),
        }
    }

    /// Adds a later step: times and iterations sum up; contacts, residual and ropes out of reach are the worst of both;
    /// energy is that of the later one.
    pub fn add(&mut self, later: &Report) {
        self.contacts = self.contacts.max(later.contacts);
        self.iterations += later.iterations;
        self.residual = self.residual.max(later.residual);
        self.out_of_reach = self.out_of_reach.max(later.out_of_reach);
        self.crossings += later.crossings;
        self.misfit = self.misfit.max(later.misfit);
        self.time_steps += later.time_steps;
        self.contact_problems += later.contact_problems;
        self.energy = later.energy.or(self.energy);
        for phase in &later.phases {
            self.add_seconds(phase.name, phase.seconds);
        }
    }
}
