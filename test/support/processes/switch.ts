import type { Service } from './service.ts'

const PATHS = [
  'module=account&action=get-account-detail&account=admin',
  'module=token&action=get-token-detail&token=iost',
  'module=token&action=get-token-holder&token=iost&size=50',
  'module=account&action=get-account-tx&account=admin&size=50',
  'module=base&action=get-wealth-list&size=50',
  'module=block&action=get-latest-block',
]

async function askAt(service: Service, query: string): Promise<string> {
  const answer = await service.ask(`/api/?${query}`, { headers: { 'x-api-key': service.key } })
  const text = (await answer.text()).replace(/"request_id":"\w*"/, '')
  return `${answer.status} ${answer.headers.get('x-block-height')} ${text}`
}
/** Answers to some requests, each with its status and height, without the id of the request. */
export const allAt = (service: Service): Promise<readonly string[]> =>
  Promise.all(PATHS.map(path => askAt(service, path)))

/**
 * Sends the requests continuously while one store replaces another. Each answer must be the old one, or the new one.
 * After the first new answer, old ones are wrong. Returns a function that stops it and returns the wrong answers.
 */
export function watchSwitch(service: Service, before: readonly string[], after: readonly string[]) {
  let [stopping, asked, hasChanged] = [false, 0, false]
  const wrong: string[] = []
  const asker = async (): Promise<void> => {
    for (let at = 0; !stopping; at = (at + 1) % PATHS.length) {
      const mayBeOld = !hasChanged
      const answer = await askAt(service, PATHS[at] ?? '')
      asked++
      const [isOld, isNew] = [answer === before[at], answer === after[at]]
      if (isNew && !isOld) hasChanged = true
      if (!isNew && !(isOld && mayBeOld)) wrong.push(`${PATHS[at]}: ${answer}`)
      // SQLite answers without yielding, so timers and processes need a turn.
      await Bun.sleep(1)
    }
  }
  const ended = Promise.all([asker(), asker()])
  return async () => {
    stopping = true
    await ended
    return { wrong: wrong.slice(0, 5), asked }
  }
}
