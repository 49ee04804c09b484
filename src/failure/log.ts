/** Writes one structured line: a constant sentence and its values. Never parameters of a request, never keys. */
export type Log = (
  level: 'debug' | 'info' | 'warn' | 'error',
  message: string,
  fields?: Readonly<Record<string, string | number>>,
) => void
