//! What is simulated: the scene as written by the user, the model that stays constant, the state that moves,
//! and the drive that the world exerts during one step.
