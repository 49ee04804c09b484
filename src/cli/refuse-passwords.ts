import { Failure } from '#failure/failure.ts'
import type { Arguments } from './parse-arguments.ts'
import { environmentName } from './settings.ts'

/** Throws 'usage' for a password in a URL on the command line, which every user of the machine can read. */
export function refusePasswords({ flags, words }: Pick<Arguments, 'flags' | 'words'>): void {
  for (const [name, { text, file }] of flags)
    if (!file && hasPassword(text))
      throw new Failure('usage', `The URL in --${name} has a password, and process lists would contain it.`, {
        help:
          name === 'store'
            ? `Use --store-user and --store-password-file, or set ${environmentName(name)} in the environment.`
            : `Set ${environmentName(name)} in the environment instead.`,
      })
  if (words.some(hasPassword))
    throw new Failure('usage', 'A URL among the arguments has a password, and process lists would contain it.', {
      help: `A load from the archive proves its blocks, too: set ${environmentName('node')} to archive:URL in the environment.`,
    })
}

/** Whether a URL in the text has a password. Commas may separate URLs, and a password may contain @. */
function hasPassword(text: string): boolean {
  return text.split('://').some((part, at) => {
    const [authority = ''] = part.split('/', 1)
    const end = authority.lastIndexOf('@')
    return at > 0 && end >= 0 && authority.slice(0, end).includes(':')
  })
}
