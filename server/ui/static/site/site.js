// What the pages of people who have signed in run: everything on them works without it, too.
import "./again.js";
import "./copying.js";
import "./keys.js";
import "./menus.js";
import "./moments.js";
import "./picks.js";
import "./themes.js";

document.documentElement.dataset.scripts = "";
