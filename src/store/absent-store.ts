import { Failure } from '#failure/failure.ts'

/** The failure of a command on a store that does not exist: a mistyped name must not look like an empty store. */
export function absentStore(name: string): Failure {
  return new Failure('not_found', `The store ${name} does not exist.`, {
    help: "Set the store that is loaded and served with --store (or --data). 'iostlens load', 'up', 'indices create' and 'keys add' create a store.",
  })
}
