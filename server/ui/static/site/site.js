// What the pages of people who have signed in run: everything on them works without it, too.
import "../theme.js";
