//! The examples run to their end, and what they say at it is true.

#[path = "../../examples/end_to_end.rs"]
mod end_to_end;
#[path = "../../examples/molecules.rs"]
mod molecules;

#[test]
fn molecules_like_this_one() {
    molecules::main().unwrap();
}

#[test]
fn a_map_in_front_learns_through_the_model() {
    end_to_end::main().unwrap();
}
