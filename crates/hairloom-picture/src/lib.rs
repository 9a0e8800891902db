//! Pictures of hair on the CPU: shaded frames, contact sheets, animated previews and plots.
