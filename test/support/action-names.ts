import { actions } from '#actions/registry.ts'

/**
 * An expected text with action names of the registry filled in: `{actions, base}` and `{actions、base}` are
 * replaced by the actions of a module with that separator, so that a new action changes no expected text.
 */
export const withActionNames = (text: string): string =>
  text.replace(/\{actions(, |、)(\w+)\}/g, (_all, separator: string, module: string) =>
    actions
      .filter(action => action.module === module)
      .map(({ action }) => action)
      .join(separator),
  )
