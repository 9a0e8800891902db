mod element;
mod stage;
