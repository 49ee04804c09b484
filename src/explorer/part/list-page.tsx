/** @jsxImportSource @kitajs/html */
import type { Text } from '#actions/text.ts'
import type { Download } from '../download/download.ts'
import { isNarrowed } from '../narrowed.ts'
import type { Html, Shown, Visit } from '../page.ts'
import { Files } from './files.tsx'
import { Pager } from './pager.tsx'

type ListPage = {
  readonly title: Text
  /** A sentence with the contents of the list and their order. */
  readonly lead: Text
  readonly description?: Text
  /** Rows of the whole list. */
  readonly total: number
  /** The whole list for people. */
  readonly file: Download
  /** The rows of the page that is asked for. */
  readonly table: Html
}

/** A page that is one list. Searches know its first page only. */
export const listPage = (
  visit: Visit,
  { title, lead, description = title, total, file, table }: ListPage,
): Shown => ({
  title: visit.say(title),
  description: visit.say(description),
  isMinor: isNarrowed(visit, ['page']),
  body: (
    <>
      <h1 safe>{visit.say(title)}</h1>
      <p class="about" safe>
        {visit.say(lead)}
      </p>
      <section class="card">
        <Files visit={visit} file={file} total={total} />
        {table}
        <Pager visit={visit} total={total} />
      </section>
    </>
  ),
})
