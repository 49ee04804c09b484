/** A text in the two languages of the service. */
export type Text = { readonly en: string; readonly zh: string }
