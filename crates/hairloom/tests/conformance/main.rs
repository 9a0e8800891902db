//! One suite that every solver passes, and with it the seams between solvers and everything else: attachments,
//! parts of a drive, bodies that move among the hair, exact checkpoints, dynamic and quasistatic steps, teleports, rebinding after an edit.

mod contact;
mod crowd;
mod rigid;
mod suite;
mod world;

use hairloom::solve::ftl::Params;
use hairloom::solve::{Method, admm, der_mpm, nsgs, xpbd_mpm};

use rigid::Rigid;

macro_rules! conformance {
    ($name:ident, $build:expr, $traits:expr) => {
        mod $name {
            use super::*;
            use crate::{contact, suite};

            conformance!(@tests suite, $build, $traits;
                hanging_hair_stays_at_rest
                roots_follow_their_body
                edges_keep_their_lengths_under_any_motion
                energy_never_grows_by_itself
                same_bits_for_any_number_of_threads
                restart_equals_an_unbroken_run
                foreign_checkpoints_are_refused
                state_survives_load_and_store
                parts_of_a_drive_end_where_the_whole_does
                quasistatic_steps_leave_no_speed
                teleported_hair_keeps_its_shape
                only_hair_of_the_body_that_jumps_goes_along
                edited_hair_goes_on_warm
                bad_time_steps_are_errors
                held_vertices_beyond_the_root_stay_put
                free_strands_fall_as_galileo_says
                absurd_forces_are_errors
                ropes_held_at_both_ends_keep_lengths_and_ends
                strands_rest_on_the_ground
                strands_over_a_rising_floor_keep_their_lengths
                handles_pull_and_must_exist
            );
            conformance!(@tests contact, $build, $traits;
                parts_of_a_step_go_like_steps_of_their_own
                contact_has_the_same_bits_for_any_number_of_threads
                restart_among_bodies_in_wind_equals_an_unbroken_run
                a_solver_that_loads_again_goes_like_a_new_one
                no_vertex_sinks_into_bodies_that_move
            );
        }
    };
    (@tests $module:ident, $build:expr, $traits:expr; $($test:ident)+) => {
        $(
            #[test]
            fn $test() {
                $module::$test(&$build, $traits);
            }
        )+
    };
}

const LIMP: suite::Traits = suite::Traits {
    falls: true,
    parts: 1,
    collides: true,
    limp: true,
    drift: 1.0e-6,
    rounding: 1.0e-9,
    parting: 1.0e-5,
    stretch: 1.0e-5,
};
/// Real hair stretches by its own inertia, and bends under its own weight.
const ELASTIC: suite::Traits =
    suite::Traits { limp: false, drift: 1.0e-5, parting: 1.0e-4, stretch: 2.0e-4, ..LIMP };

conformance!(follow_the_leader, |model: &_| Method::Ftl(Params::default()).build(model), LIMP);
conformance!(
    follow_the_leader_with_everything,
    |model: &_| {
        Method::Ftl(Params {
            bending: 0.6,
            backward: true,
            friction: 0.1,
            repulsion: 2.0,
            ..Params::default()
        })
        .build(model)
    },
    // Repulsion pushes neighbours apart.
    suite::Traits { drift: 5.0e-3, ..LIMP }
);
conformance!(
    rigid_hair,
    |model: &_| Box::new(Rigid::new(model)) as Box<dyn hairloom::solve::Solver>,
    suite::Traits { falls: false, collides: false, limp: false, drift: 1.0e-12, ..LIMP }
);
conformance!(
    rods_in_single_precision,
    |model: &_| Method::Admm(admm::Params::default()).build(model),
    suite::Traits { rounding: 1.0e-6, ..ELASTIC }
);
conformance!(
    rods_in_double_precision,
    |model: &_| {
        let precision = admm::Precision::F64;
        Method::Admm(admm::Params { precision, clamp: admm::Clamp::Voronoi, ..admm::Params::default() })
            .build(model)
    },
    ELASTIC
);
conformance!(
    rods_by_splitting,
    |model: &_| {
        let elastic = admm::Elastic::Splitting;
        Method::Admm(admm::Params { elastic, ..admm::Params::default() }).build(model)
    },
    // In contact a hundred iterations leave it short of converged, and momentum that begins anew at other iterations
    // makes more of rounding.
    suite::Traits { rounding: 1.0e-6, parting: 2.0e-3, ..ELASTIC }
);

/// Six steps of the grid go into one of the suite, and single precision takes part in all of them. Stretching is two hundred times softer
/// than hair's, for single precision's sake.
const ON_A_GRID: suite::Traits = suite::Traits { parts: 6, rounding: 1.0e-6, stretch: 1.0e-2, ..ELASTIC };

/// Lengths are held by stiffness alone, or the limit on them would say nothing.
fn on_a_grid() -> der_mpm::Params {
    der_mpm::Params { most_stretch: 0.5, ..der_mpm::Params::default() }
}

conformance!(
    rods_on_a_grid_in_single_precision,
    |model: &_| Method::DerMpm(on_a_grid()).build(model),
    ON_A_GRID
);
conformance!(
    rods_on_a_grid_in_double_precision,
    |model: &_| {
        let precision = der_mpm::Precision::F64;
        let params = der_mpm::Params { precision, stretch_young: 3.0e9, ..on_a_grid() };
        Method::DerMpm(params).build(model)
    },
    ON_A_GRID
);
conformance!(
    rods_on_a_grid_of_affine_fluid,
    |model: &_| {
        let grains = der_mpm::GrainKind::Fluid;
        Method::DerMpm(der_mpm::Params { grains, affine: true, ..on_a_grid() }).build(model)
    },
    // An affine field is a difference over a cell: it makes more of rounding.
    suite::Traits { rounding: 5.0e-6, ..ON_A_GRID }
);
conformance!(
    rods_without_a_grid,
    |model: &_| {
        let grains = der_mpm::GrainKind::None;
        Method::DerMpm(der_mpm::Params { grains, ..on_a_grid() }).build(model)
    },
    suite::Traits { parts: 2, ..ON_A_GRID }
);

/// Cosserat rods without contact between strands. Ropes whose ends are brought together at once cannot give way within a step.
mod cosserat_rods {
    use super::*;
    use crate::{contact, suite};

    const RODS: xpbd_mpm::Params = xpbd_mpm::Params { contact: false, ..xpbd_mpm::Params::USUAL };
    const TRAITS: suite::Traits = suite::Traits { rounding: 1.0e-6, ..ELASTIC };

    conformance!(@tests suite, |model: &_| Method::XpbdMpm(RODS).build(model), TRAITS;
        hanging_hair_stays_at_rest
        roots_follow_their_body
        edges_keep_their_lengths_under_any_motion
        energy_never_grows_by_itself
        same_bits_for_any_number_of_threads
        restart_equals_an_unbroken_run
        foreign_checkpoints_are_refused
        state_survives_load_and_store
        parts_of_a_drive_end_where_the_whole_does
        quasistatic_steps_leave_no_speed
        teleported_hair_keeps_its_shape
        only_hair_of_the_body_that_jumps_goes_along
        edited_hair_goes_on_warm
        bad_time_steps_are_errors
        held_vertices_beyond_the_root_stay_put
        absurd_forces_are_errors
        strands_rest_on_the_ground
        strands_over_a_rising_floor_keep_their_lengths
        handles_pull_and_must_exist
    );
    // The step is that of the suite: parts fall as Galileo says for their own length.
    conformance!(@tests suite,
        |model: &_| Method::XpbdMpm(xpbd_mpm::Params { step: 0.1, ..RODS }).build(model),
        TRAITS;
        free_strands_fall_as_galileo_says
    );
    conformance!(@tests contact, |model: &_| Method::XpbdMpm(RODS).build(model), TRAITS;
        parts_of_a_step_go_like_steps_of_their_own
        contact_has_the_same_bits_for_any_number_of_threads
        restart_among_bodies_in_wind_equals_an_unbroken_run
        no_vertex_sinks_into_bodies_that_move
    );
}

/// Cosserat rods that meet on the grid, all but ropes: see above. Strands of the suite are so near to each other that they meet.
mod cosserat_rods_on_a_grid {
    use super::*;
    use crate::{contact, suite};

    // What the grid hands back has single precision, and pushes single vertices.
    const TRAITS: suite::Traits = suite::Traits { rounding: 1.0e-5, ..ELASTIC };
    const PARAMS: xpbd_mpm::Params = xpbd_mpm::Params::USUAL;

    conformance!(@tests suite, |model: &_| Method::XpbdMpm(PARAMS).build(model), TRAITS;
        hanging_hair_stays_at_rest
        roots_follow_their_body
        edges_keep_their_lengths_under_any_motion
        same_bits_for_any_number_of_threads
        restart_equals_an_unbroken_run
        foreign_checkpoints_are_refused
        state_survives_load_and_store
        parts_of_a_drive_end_where_the_whole_does
        quasistatic_steps_leave_no_speed
        teleported_hair_keeps_its_shape
        only_hair_of_the_body_that_jumps_goes_along
        edited_hair_goes_on_warm
        bad_time_steps_are_errors
        held_vertices_beyond_the_root_stay_put
        absurd_forces_are_errors
        strands_rest_on_the_ground
        strands_over_a_rising_floor_keep_their_lengths
        handles_pull_and_must_exist
    );
    conformance!(@tests contact, |model: &_| Method::XpbdMpm(PARAMS).build(model), TRAITS;
        parts_of_a_step_go_like_steps_of_their_own
        contact_has_the_same_bits_for_any_number_of_threads
        restart_among_bodies_in_wind_equals_an_unbroken_run
        no_vertex_sinks_into_bodies_that_move
    );
}

/// What holds of the other fibres on the same contact solver, which are clamped at their roots as well. Their linear steps lengthen edges
/// that turn, by the square of the step: shaken roots, which start at 9 m/s, ask for
/// steps that turn them half as far as usual.
macro_rules! polylines {
    ($name:ident, $kind:ident) => {
        mod $name {
            use super::*;
            use crate::{contact, suite};

            fn build(model: &std::sync::Arc<hairloom::scene::Model>) -> Box<dyn hairloom::solve::Solver> {
                let fibre = nsgs::FibreKind::$kind;
                Method::Nsgs(nsgs::Params { fibre, most_turn: 0.1,
                    least_step: 1.0 / 3840.0, ..nsgs::Params::default() }).build(model)
            }

            conformance!(@tests suite, build, ELASTIC;
                hanging_hair_stays_at_rest
                roots_follow_their_body
                energy_never_grows_by_itself
                foreign_checkpoints_are_refused
                state_survives_load_and_store
                quasistatic_steps_leave_no_speed
                teleported_hair_keeps_its_shape
                edited_hair_goes_on_warm
                bad_time_steps_are_errors
                held_vertices_beyond_the_root_stay_put
                absurd_forces_are_errors
                handles_pull_and_must_exist
            );
            conformance!(@tests contact, build, ELASTIC;
                contact_has_the_same_bits_for_any_number_of_threads
                restart_among_bodies_in_wind_equals_an_unbroken_run
                a_solver_that_loads_again_goes_like_a_new_one
            );
        }
    };
}

polylines!(discrete_rods_with_exact_friction, Der);
polylines!(projected_rods_with_exact_friction, DerProjected);
polylines!(cosserat_rods_with_exact_friction, Corde);

/// What holds of super-helices, which are clamped at their roots: free strands and ropes are refused. Straight ones cannot be pushed along
/// themselves, as by a floor that comes up under them or from the depth of a ball.
mod super_helices {
    use super::*;
    use crate::{contact, suite};

    // Vertices lie on curves that keep their lengths: the chords between them shorten by (κ h)² / 24 where hair bends, and a root that
    // starts at 9 m/s bends hair to a radius of 3 mm within edges of 8 mm.
    const CURVED: suite::Traits = suite::Traits { stretch: 2.0e-2, ..ELASTIC };
    // A shaken tangle is 2 to 6 % short from step to step, and by how much at its end hangs on rounding.
    const TANGLED: suite::Traits = suite::Traits { stretch: 8.0e-2, ..ELASTIC };

    fn build(model: &std::sync::Arc<hairloom::scene::Model>) -> Box<dyn hairloom::solve::Solver> {
        Method::Nsgs(nsgs::Params { least_step: 1.0 / 480.0, ..nsgs::Params::default() }).build(model)
    }

    conformance!(@tests suite, build, CURVED;
        hanging_hair_stays_at_rest
        roots_follow_their_body
        energy_never_grows_by_itself
        foreign_checkpoints_are_refused
        state_survives_load_and_store
        parts_of_a_drive_end_where_the_whole_does
        quasistatic_steps_leave_no_speed
        teleported_hair_keeps_its_shape
        edited_hair_goes_on_warm
        bad_time_steps_are_errors
        absurd_forces_are_errors
        handles_pull_and_must_exist
    );
    conformance!(@tests suite, build, TANGLED; held_vertices_beyond_the_root_stay_put);
    conformance!(@tests contact, build, CURVED;
        parts_of_a_step_go_like_steps_of_their_own
        contact_has_the_same_bits_for_any_number_of_threads
        restart_among_bodies_in_wind_equals_an_unbroken_run
    );
}
