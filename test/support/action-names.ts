import { actions } from '#actions/registry.ts'

/**
 * A text of expected answers with the names of the registry in it: `{actions, base}` and `{actions、base}` stand for the
 * actions of a module with that separator, so that a new action changes no expected text.
 */
export const withActionNames = (text: string): string =>
  text.replace(/\{actions(, |、)(\w+)\}/g, (_all, separator: string, module: string) =>
    actions
      .filter(action => action.module === module)
      .map(({ action }) => action)
      .join(separator),
  )
