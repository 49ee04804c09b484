import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ApiAction } from '#actions/define.ts'
import { listParameters } from '#actions/request/query.ts'
import { chosenParameters, type Form } from '#http/openapi/responses.ts'
import { type Service, serviceOn } from '../../support/processes/service.ts'
import { SOAK } from '../../support/processes/soak.ts'
import { ROOT } from '../../support/root.ts'
import { loadedStore } from '../../support/stores/loaded.ts'

/** The recorded chain, served on a port for programs that only know the OpenAPI document. */
export type Served = AsyncDisposable & {
  readonly service: Service
  readonly url: string
  /** A folder inside the project, so that programs in it find the project's packages. */
  readonly folder: string
  /** Writes the document for these options into the folder. */
  document(chosen: Partial<Form>): Promise<string>
}

export async function serveForGenerators(): Promise<Served> {
  const cache = join(ROOT, '.cache')
  await mkdir(cache, { recursive: true })
  const folder = await mkdtemp(join(cache, 'generated-'))
  const service = serviceOn(await loadedStore())
  service.app.listen({ hostname: '127.0.0.1', port: 0 })
  let written = 0
  return {
    service,
    url: `http://127.0.0.1:${service.app.server?.port}`,
    folder,
    document: async chosen => {
      const path = join(folder, `openapi-${written++}.json`)
      const answer = await service.ask(`/openapi.json?${new URLSearchParams(chosenParameters(chosen))}`)
      await Bun.write(path, await answer.text())
      return path
    },
    [Symbol.asyncDispose]: async () => {
      await service.app.stop(true)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The options of the documents that clients are generated from: those of most callers, and in long runs others. */
export const CHOICES: readonly Partial<Form>[] = [
  {},
  ...(SOAK ? [{ format: 'bare', compat: 'iostabc', numbers: 'string' } as const] : []),
]

/** Arguments for the parameters of an action's example, with numbers as numbers. */
export function argumentsOf(
  { params, example }: ApiAction,
  chosen: Partial<Form>,
): Readonly<Record<string, string | number>> {
  const types = new Map(listParameters(params).map(({ name, spec }) => [name, spec.type]))
  const own = Object.entries(example).map(([name, text]) => [name, types.get(name) === 'integer' ? Number(text) : text])
  return { ...Object.fromEntries(own), ...chosen }
}
