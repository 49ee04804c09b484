import { Failure, messageOf } from '#failure/failure.ts'

/** The result of one check; `help` is the remedy. */
export type Finding = {
  readonly about: 'node' | 'store' | 'machine'
  readonly is: 'ok' | 'warning' | 'wrong'
  readonly what: string
  readonly help?: string
}

/** Constructors of findings about one subject. */
export const findingsAbout = (about: Finding['about']) => {
  const ok = (what: string): Finding => ({ about, is: 'ok', what })
  const warning = (what: string, help: string): Finding => ({ about, is: 'warning', what, help })
  const wrong = (what: string, help: string): Finding => ({ about, is: 'wrong', what, help })
  /** The finding for a check that failed. A failure's own help is used if it has one. */
  const failed = (error: unknown, help: string): Finding =>
    wrong(messageOf(error), (error instanceof Failure ? error.help : undefined) ?? help)
  return { ok, warning, wrong, failed }
}
