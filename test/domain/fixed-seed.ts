import fc from 'fast-check';

/** A property carries its seed in its name, and a mutant is held against the tests by their names. */
fc.configureGlobal({ seed: 1 });
