import { type Reader, yesNo } from './readers.ts'

/** One thing an operator may decide: by flag `--name`, or by `IOSTLENS_NAME` in the environment. */
export type Setting<T> = {
  readonly reader: Reader<T>
  /** The placeholder for the value in help texts. */
  readonly value: string
  readonly about: string
  /** Absent: none, and the value is undefined. */
  readonly fallback?: string
  /**
   * Never shown. `--name-file PATH` and `IOSTLENS_NAME_FILE` read it from a file; by flag alone it would stand in the
   * list of processes, so only `shared` ones have a plain flag.
   */
  readonly secret?: 'shared' | 'private'
}

/** A setting that always has a value. */
export const given = <T>(setting: Setting<T> & { readonly fallback: string }): Setting<T> => setting
/** A setting that is off unless it is named. */
export const flag = (about: string): Setting<boolean> =>
  given({ reader: yesNo, value: 'BOOL', about, fallback: 'false' })
/** A setting that may be left out. */
export const maybe = <T>(setting: Setting<T>): Setting<T | undefined> => setting
