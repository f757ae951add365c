"""The loop that draws programs, the weights of steps, and the ops to draw from."""
