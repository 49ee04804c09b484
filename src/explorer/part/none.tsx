/** @jsxImportSource @kitajs/html */
import type { Html } from '../page.ts'

/** The mark for a missing value. */
export const None = (): Html => <span class="none">—</span>
