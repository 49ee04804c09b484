/** With SOAK=1, tests that normally take seconds run for many minutes. */
export const SOAK = (process.env['SOAK'] ?? '') !== ''
