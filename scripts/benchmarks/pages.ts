import { fixed, type Times, timed, whole } from './measure.ts'

/** The account with the most rows of the recording. */
export const BUSIEST = 'busyhub'
const SIZE = 20
const COUNT = 2_000

const textOf = async (url: string): Promise<string> => {
  const answer = await fetch(url)
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${text}`)
  return text
}

/** Pages of the busiest account through the service, against a floor measured at the same time. */
export const pageRows = async (
  name: string,
  service: { readonly url: string; readonly key: string },
  floor: { readonly name: string; readonly ask: () => Promise<unknown> },
): Promise<readonly (readonly string[])[]> => {
  const path = `/api/?apikey=${service.key}&module=account&action=get-account-tx&account=${BUSIEST}&size=${SIZE}&page=`
  const total = Number(/"total":(\d+)/.exec(await textOf(`${service.url}${path}1`))?.[1])
  const last = Math.ceil(total / SIZE)
  const asks: readonly (readonly [string, (n: number) => Promise<unknown>])[] = [
    [floor.name, floor.ask],
    ['first page', () => textOf(`${service.url}${path}1`)],
    ['middle page', () => textOf(`${service.url}${path}${last >> 1}`)],
    ['last page', () => textOf(`${service.url}${path}${last}`)],
    ['random pages', n => textOf(`${service.url}${path}${1 + ((n * 7_919) % last)}`)],
  ]
  const rows: (readonly string[])[] = []
  let floors: readonly Times[] = []
  for (const [what, ask] of asks) {
    const times = [await timed(COUNT, 1, ask), await timed(COUNT, 8, ask)]
    if (floors.length === 0) floors = times
    const [one, eight] = times
    const [floorOne, floorEight] = floors
    if (one === undefined || eight === undefined || floorOne === undefined || floorEight === undefined)
      continue
    rows.push([
      name,
      what,
      fixed(one.p50),
      fixed(one.p99),
      whole(one.perSecond),
      whole(eight.perSecond),
      fixed(one.p50 / floorOne.p50),
      fixed(eight.perSecond / floorEight.perSecond),
    ])
  }
  return rows
}
