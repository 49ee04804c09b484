import { Failure } from '#failure/failure.ts'

/** The result of one check; `help`: what to do about it. */
export type Finding = {
  readonly about: 'node' | 'store' | 'machine'
  readonly is: 'ok' | 'warning' | 'wrong'
  readonly what: string
  readonly help?: string
}

/** Makes the findings about one thing. */
export const findingsAbout = (about: Finding['about']) => {
  const ok = (what: string): Finding => ({ about, is: 'ok', what })
  const warning = (what: string, help: string): Finding => ({ about, is: 'warning', what, help })
  const wrong = (what: string, help: string): Finding => ({ about, is: 'wrong', what, help })
  /** The finding of a check that failed; a failure that knows a remedy has its own. */
  const failed = (error: unknown, help: string): Finding =>
    wrong(
      error instanceof Error ? error.message : String(error),
      (error instanceof Failure ? error.help : undefined) ?? help,
    )
  return { ok, warning, wrong, failed }
}
