/** Set SOAK=1 for runs of many minutes where some seconds are enough otherwise. */
export const SOAK = (process.env['SOAK'] ?? '') !== ''
