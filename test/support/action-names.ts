import { actions } from '#actions/registry.ts'

/** Replaces `{actions, base}` and `{actions、base}` by a module's actions, so that a new one changes no text. */
export const withActionNames = (text: string): string =>
  text.replace(/\{actions(, |、)(\w+)\}/g, (_all, separator: string, module: string) =>
    actions
      .filter(action => action.module === module)
      .map(({ action }) => action)
      .join(separator),
  )
