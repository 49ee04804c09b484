import { Failure } from '#failure/failure.ts'

/** What was found about one thing; `help`: what to do about it. */
export type Finding = {
  readonly about: 'node' | 'store' | 'machine'
  readonly is: 'ok' | 'warning' | 'wrong'
  readonly what: string
  readonly help?: string
}

/** The finding of a check that failed. */
export const wrongBecause = (about: Finding['about'], error: unknown, help: string): Finding => ({
  about,
  is: 'wrong',
  what: error instanceof Error ? error.message : String(error),
  help: error instanceof Failure && error.help !== undefined ? error.help : help,
})
