mod bodies;
mod element;
mod stage;
