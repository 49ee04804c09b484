import { type Reader, yesNo } from './readers.ts'

/** One decision of an operator, set by the flag `--name` or by `IOSTLENS_NAME` in the environment. */
export type Setting<T> = {
  readonly reader: Reader<T>
  /** The placeholder for the value in help texts. */
  readonly value: string
  readonly about: string
  /** Default, as text; absent: the value is undefined. */
  readonly fallback?: string
  /**
   * A secret is never shown. `--name-file PATH` and `IOSTLENS_NAME_FILE` read it from a file. A plain flag
   * would appear in the list of processes, so only `shared` secrets have one.
   */
  readonly secret?: 'shared' | 'private'
}

/** A setting with a default, so that it always has a value. */
export const withDefault = <T>(setting: Setting<T> & { readonly fallback: string }): Setting<T> => setting
/** A switch that is off by default. */
export const flag = (about: string): Setting<boolean> =>
  withDefault({ reader: yesNo, value: 'BOOL', about, fallback: 'false' })
/** An optional setting. */
export const optional = <T>(setting: Setting<T>): Setting<T | undefined> => setting
