/** The text of an escaped segment of a path; a segment with an invalid escape stays as it is, and names nothing. */
export const decoded = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
