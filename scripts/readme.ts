import { parametersOf } from '#actions/read.ts'
import { actions } from '#actions/registry.ts'
import { environmentName, settingNames, settings } from '#cli/settings.ts'

/** Tables of the README that are made from the registries. */
const sections: Readonly<Record<string, () => readonly (readonly string[])[]>> = {
  actions: () => [
    ['module', 'action', 'parameters', 'answers'],
    ...actions.map(({ module, action, params, title }) => [
      module,
      action,
      parametersOf(params)
        .map(({ name, required }) => (required ? `**${name}**` : name))
        .join(', '),
      title.en,
    ]),
  ],
  settings: () => [
    ['flag', 'variable', 'default', 'what'],
    ...settingNames.map(name => {
      const { about, fallback, secret } = settings[name]
      const flag = secret === 'private' ? `--${name}-file` : `--${name}`
      return [`\`${flag}\``, `\`${environmentName(name)}\``, fallback ?? '', about.replaceAll('|', '\\|')]
    }),
  ],
}

const tableOf = ([heading = [], ...rows]: readonly (readonly string[])[]): string =>
  [heading, heading.map(() => '---'), ...rows].map(row => `| ${row.join(' | ')} |`).join('\n')

/** The README with its tables made anew. Throws when a section's marks are missing. */
export const readmeWith = (readme: string): string =>
  Object.entries(sections).reduce((text, [name, rows]) => {
    const [begin, end] = [`<!-- ${name}: made by scripts/generate.ts -->\n`, `<!-- /${name} -->`]
    const [from, to] = [text.indexOf(begin), text.indexOf(end)]
    if (from < 0 || to < from) throw new Error(`README.md has no section between ${begin.trim()} and ${end}.`)
    return `${text.slice(0, from + begin.length)}${tableOf(rows())}\n${text.slice(to)}`
  }, readme)
