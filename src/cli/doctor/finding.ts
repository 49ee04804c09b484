import { Failure, getErrorMessage } from '#failure/failure.ts'
import { within } from '#time/deadline.ts'

/** The result of one check; `help` is the remedy. */
export type DoctorFinding = {
  readonly about: 'node' | 'store' | 'machine'
  readonly is: 'ok' | 'warning' | 'wrong'
  readonly what: string
  readonly help?: string
}

/** Constructors of findings about one subject. */
export function findingsAbout(about: DoctorFinding['about']) {
  const ok = (what: string): DoctorFinding => ({ about, is: 'ok', what })
  const warning = (what: string, help: string): DoctorFinding => ({ about, is: 'warning', what, help })
  const wrong = (what: string, help: string): DoctorFinding => ({ about, is: 'wrong', what, help })
  /** The finding for a check that failed. A failure's own help is used if it has one. */
  const failed = (error: unknown, help: string): DoctorFinding =>
    wrong(getErrorMessage(error), (error instanceof Failure ? error.help : undefined) ?? help)
  return { ok, warning, wrong, failed }
}

/** Prints a finding as soon as it is known. */
export type Tell = (finding: DoctorFinding) => void

/** Maximum time for one answer: what is slower is as good as hung to the operator who waits. */
export const ANSWER_MS = 5_000

type Asked = {
  readonly about: DoctorFinding['about']
  /** Whom the question is for: the beginning of a sentence. */
  readonly of: string
  /** The remedy if there is no answer. */
  readonly help: string
  readonly tell: Tell
}

/** Asks a question and tells its findings. An error is a finding, too, and so is no answer in time. */
export async function askQuestion(
  { about, of, help, tell }: Asked,
  ask: () => Promise<readonly DoctorFinding[]>,
): Promise<void> {
  const late = () => new Failure('unavailable', `${of} did not answer within ${ANSWER_MS / 1_000} seconds`)
  const findings = await within(ask(), { ms: ANSWER_MS, late }).catch((error: unknown) => [
    findingsAbout(about).failed(error, help),
  ])
  for (const finding of findings) tell(finding)
}
