(function(){var e=globalThis,t=e.ShadowRoot&&(e.ShadyCSS===void 0||e.ShadyCSS.nativeShadow)&&`adoptedStyleSheets`in Document.prototype&&`replace`in CSSStyleSheet.prototype,n=Symbol(),r=new WeakMap,i=class{constructor(e,t,r){if(this._$cssResult$=!0,r!==n)throw Error("CSSResult is not constructable. Use `unsafeCSS` or `css` instead.");this.cssText=e,this.t=t}get styleSheet(){let e=this.o,n=this.t;if(t&&e===void 0){let t=n!==void 0&&n.length===1;t&&(e=r.get(n)),e===void 0&&((this.o=e=new CSSStyleSheet).replaceSync(this.cssText),t&&r.set(n,e))}return e}toString(){return this.cssText}},a=e=>new i(typeof e==`string`?e:e+``,void 0,n),o=(e,...t)=>new i(e.length===1?e[0]:t.reduce((t,n,r)=>t+(e=>{if(!0===e._$cssResult$)return e.cssText;if(typeof e==`number`)return e;throw Error(`Value passed to 'css' function must be a 'css' function result: `+e+`. Use 'unsafeCSS' to pass non-literal values, but take care to ensure page security.`)})(n)+e[r+1],e[0]),e,n),s=(n,r)=>{if(t)n.adoptedStyleSheets=r.map(e=>e instanceof CSSStyleSheet?e:e.styleSheet);else for(let t of r){let r=document.createElement(`style`),i=e.litNonce;i!==void 0&&r.setAttribute(`nonce`,i),r.textContent=t.cssText,n.appendChild(r)}},c=t?e=>e:e=>e instanceof CSSStyleSheet?(e=>{let t=``;for(let n of e.cssRules)t+=n.cssText;return a(t)})(e):e,{is:l,defineProperty:u,getOwnPropertyDescriptor:d,getOwnPropertyNames:f,getOwnPropertySymbols:p,getPrototypeOf:m}=Object,h=globalThis,g=h.trustedTypes,_=g?g.emptyScript:``,v=h.reactiveElementPolyfillSupport,y=(e,t)=>e,b={toAttribute(e,t){switch(t){case Boolean:e=e?_:null;break;case Object:case Array:e=e==null?e:JSON.stringify(e)}return e},fromAttribute(e,t){let n=e;switch(t){case Boolean:n=e!==null;break;case Number:n=e===null?null:Number(e);break;case Object:case Array:try{n=JSON.parse(e)}catch{n=null}}return n}},x=(e,t)=>!l(e,t),ee={attribute:!0,type:String,converter:b,reflect:!1,useDefault:!1,hasChanged:x};Symbol.metadata??=Symbol(`metadata`),h.litPropertyMetadata??=new WeakMap;var S=class extends HTMLElement{static addInitializer(e){this._$Ei(),(this.l??=[]).push(e)}static get observedAttributes(){return this.finalize(),this._$Eh&&[...this._$Eh.keys()]}static createProperty(e,t=ee){if(t.state&&(t.attribute=!1),this._$Ei(),this.prototype.hasOwnProperty(e)&&((t=Object.create(t)).wrapped=!0),this.elementProperties.set(e,t),!t.noAccessor){let n=Symbol(),r=this.getPropertyDescriptor(e,n,t);r!==void 0&&u(this.prototype,e,r)}}static getPropertyDescriptor(e,t,n){let{get:r,set:i}=d(this.prototype,e)??{get(){return this[t]},set(e){this[t]=e}};return{get:r,set(t){let a=r?.call(this);i?.call(this,t),this.requestUpdate(e,a,n)},configurable:!0,enumerable:!0}}static getPropertyOptions(e){return this.elementProperties.get(e)??ee}static _$Ei(){if(this.hasOwnProperty(y(`elementProperties`)))return;let e=m(this);e.finalize(),e.l!==void 0&&(this.l=[...e.l]),this.elementProperties=new Map(e.elementProperties)}static finalize(){if(this.hasOwnProperty(y(`finalized`)))return;if(this.finalized=!0,this._$Ei(),this.hasOwnProperty(y(`properties`))){let e=this.properties,t=[...f(e),...p(e)];for(let n of t)this.createProperty(n,e[n])}let e=this[Symbol.metadata];if(e!==null){let t=litPropertyMetadata.get(e);if(t!==void 0)for(let[e,n]of t)this.elementProperties.set(e,n)}this._$Eh=new Map;for(let[e,t]of this.elementProperties){let n=this._$Eu(e,t);n!==void 0&&this._$Eh.set(n,e)}this.elementStyles=this.finalizeStyles(this.styles)}static finalizeStyles(e){let t=[];if(Array.isArray(e)){let n=new Set(e.flat(1/0).reverse());for(let e of n)t.unshift(c(e))}else e!==void 0&&t.push(c(e));return t}static _$Eu(e,t){let n=t.attribute;return!1===n?void 0:typeof n==`string`?n:typeof e==`string`?e.toLowerCase():void 0}constructor(){super(),this._$Ep=void 0,this.isUpdatePending=!1,this.hasUpdated=!1,this._$Em=null,this._$Ev()}_$Ev(){this._$ES=new Promise(e=>this.enableUpdating=e),this._$AL=new Map,this._$E_(),this.requestUpdate(),this.constructor.l?.forEach(e=>e(this))}addController(e){(this._$EO??=new Set).add(e),this.renderRoot!==void 0&&this.isConnected&&e.hostConnected?.()}removeController(e){this._$EO?.delete(e)}_$E_(){let e=new Map,t=this.constructor.elementProperties;for(let n of t.keys())this.hasOwnProperty(n)&&(e.set(n,this[n]),delete this[n]);e.size>0&&(this._$Ep=e)}createRenderRoot(){let e=this.shadowRoot??this.attachShadow(this.constructor.shadowRootOptions);return s(e,this.constructor.elementStyles),e}connectedCallback(){this.renderRoot??=this.createRenderRoot(),this.enableUpdating(!0),this._$EO?.forEach(e=>e.hostConnected?.())}enableUpdating(e){}disconnectedCallback(){this._$EO?.forEach(e=>e.hostDisconnected?.())}attributeChangedCallback(e,t,n){this._$AK(e,n)}_$ET(e,t){let n=this.constructor.elementProperties.get(e),r=this.constructor._$Eu(e,n);if(r!==void 0&&!0===n.reflect){let i=(n.converter?.toAttribute===void 0?b:n.converter).toAttribute(t,n.type);this._$Em=e,i==null?this.removeAttribute(r):this.setAttribute(r,i),this._$Em=null}}_$AK(e,t){let n=this.constructor,r=n._$Eh.get(e);if(r!==void 0&&this._$Em!==r){let e=n.getPropertyOptions(r),i=typeof e.converter==`function`?{fromAttribute:e.converter}:e.converter?.fromAttribute===void 0?b:e.converter;this._$Em=r;let a=i.fromAttribute(t,e.type);this[r]=a??this._$Ej?.get(r)??a,this._$Em=null}}requestUpdate(e,t,n,r=!1,i){if(e!==void 0){let a=this.constructor;if(!1===r&&(i=this[e]),n??=a.getPropertyOptions(e),!((n.hasChanged??x)(i,t)||n.useDefault&&n.reflect&&i===this._$Ej?.get(e)&&!this.hasAttribute(a._$Eu(e,n))))return;this.C(e,t,n)}!1===this.isUpdatePending&&(this._$ES=this._$EP())}C(e,t,{useDefault:n,reflect:r,wrapped:i},a){n&&!(this._$Ej??=new Map).has(e)&&(this._$Ej.set(e,a??t??this[e]),!0!==i||a!==void 0)||(this._$AL.has(e)||(this.hasUpdated||n||(t=void 0),this._$AL.set(e,t)),!0===r&&this._$Em!==e&&(this._$Eq??=new Set).add(e))}async _$EP(){this.isUpdatePending=!0;try{await this._$ES}catch(e){Promise.reject(e)}let e=this.scheduleUpdate();return e!=null&&await e,!this.isUpdatePending}scheduleUpdate(){return this.performUpdate()}performUpdate(){if(!this.isUpdatePending)return;if(!this.hasUpdated){if(this.renderRoot??=this.createRenderRoot(),this._$Ep){for(let[e,t]of this._$Ep)this[e]=t;this._$Ep=void 0}let e=this.constructor.elementProperties;if(e.size>0)for(let[t,n]of e){let{wrapped:e}=n,r=this[t];!0!==e||this._$AL.has(t)||r===void 0||this.C(t,void 0,n,r)}}let e=!1,t=this._$AL;try{e=this.shouldUpdate(t),e?(this.willUpdate(t),this._$EO?.forEach(e=>e.hostUpdate?.()),this.update(t)):this._$EM()}catch(t){throw e=!1,this._$EM(),t}e&&this._$AE(t)}willUpdate(e){}_$AE(e){this._$EO?.forEach(e=>e.hostUpdated?.()),this.hasUpdated||(this.hasUpdated=!0,this.firstUpdated(e)),this.updated(e)}_$EM(){this._$AL=new Map,this.isUpdatePending=!1}get updateComplete(){return this.getUpdateComplete()}getUpdateComplete(){return this._$ES}shouldUpdate(e){return!0}update(e){this._$Eq&&=this._$Eq.forEach(e=>this._$ET(e,this[e])),this._$EM()}updated(e){}firstUpdated(e){}};S.elementStyles=[],S.shadowRootOptions={mode:`open`},S[y(`elementProperties`)]=new Map,S[y(`finalized`)]=new Map,v?.({ReactiveElement:S}),(h.reactiveElementVersions??=[]).push(`2.1.2`);var C=globalThis,w=e=>e,te=C.trustedTypes,ne=te?te.createPolicy(`lit-html`,{createHTML:e=>e}):void 0,re=`$lit$`,T=`lit$${Math.random().toFixed(9).slice(2)}$`,ie=`?`+T,ae=`<${ie}>`,E=document,D=()=>E.createComment(``),O=e=>e===null||typeof e!=`object`&&typeof e!=`function`,oe=Array.isArray,se=e=>oe(e)||typeof e?.[Symbol.iterator]==`function`,ce=`[ 	
\f\r]`,k=/<(?:(!--|\/[^a-zA-Z])|(\/?[a-zA-Z][^>\s]*)|(\/?$))/g,le=/-->/g,ue=/>/g,A=RegExp(`>|${ce}(?:([^\\s"'>=/]+)(${ce}*=${ce}*(?:[^ \t\n\f\r"'\`<>=]|("|')|))|$)`,`g`),de=/'/g,fe=/"/g,pe=/^(?:script|style|textarea|title)$/i,me=e=>(t,...n)=>({_$litType$:e,strings:t,values:n}),j=me(1),M=me(2),N=me(3),P=Symbol.for(`lit-noChange`),F=Symbol.for(`lit-nothing`),he=new WeakMap,I=E.createTreeWalker(E,129);function ge(e,t){if(!oe(e)||!e.hasOwnProperty(`raw`))throw Error(`invalid template strings array`);return ne===void 0?t:ne.createHTML(t)}var _e=(e,t)=>{let n=e.length-1,r=[],i,a=t===2?`<svg>`:t===3?`<math>`:``,o=k;for(let t=0;t<n;t++){let n=e[t],s,c,l=-1,u=0;for(;u<n.length&&(o.lastIndex=u,c=o.exec(n),c!==null);)u=o.lastIndex,o===k?c[1]===`!--`?o=le:c[1]===void 0?c[2]===void 0?c[3]!==void 0&&(o=A):(pe.test(c[2])&&(i=RegExp(`</`+c[2],`g`)),o=A):o=ue:o===A?c[0]===`>`?(o=i??k,l=-1):c[1]===void 0?l=-2:(l=o.lastIndex-c[2].length,s=c[1],o=c[3]===void 0?A:c[3]===`"`?fe:de):o===fe||o===de?o=A:o===le||o===ue?o=k:(o=A,i=void 0);let d=o===A&&e[t+1].startsWith(`/>`)?` `:``;a+=o===k?n+ae:l>=0?(r.push(s),n.slice(0,l)+re+n.slice(l)+T+d):n+T+(l===-2?t:d)}return[ge(e,a+(e[n]||`<?>`)+(t===2?`</svg>`:t===3?`</math>`:``)),r]},ve=class e{constructor({strings:t,_$litType$:n},r){let i;this.parts=[];let a=0,o=0,s=t.length-1,c=this.parts,[l,u]=_e(t,n);if(this.el=e.createElement(l,r),I.currentNode=this.el.content,n===2||n===3){let e=this.el.content.firstChild;e.replaceWith(...e.childNodes)}for(;(i=I.nextNode())!==null&&c.length<s;){if(i.nodeType===1){if(i.hasAttributes())for(let e of i.getAttributeNames())if(e.endsWith(re)){let t=u[o++],n=i.getAttribute(e).split(T),r=/([.?@])?(.*)/.exec(t);c.push({type:1,index:a,name:r[2],strings:n,ctor:r[1]===`.`?Se:r[1]===`?`?Ce:r[1]===`@`?we:xe}),i.removeAttribute(e)}else e.startsWith(T)&&(c.push({type:6,index:a}),i.removeAttribute(e));if(pe.test(i.tagName)){let e=i.textContent.split(T),t=e.length-1;if(t>0){i.textContent=te?te.emptyScript:``;for(let n=0;n<t;n++)i.append(e[n],D()),I.nextNode(),c.push({type:2,index:++a});i.append(e[t],D())}}}else if(i.nodeType===8){if(i.data===ie)c.push({type:2,index:a});else{let e=-1;for(;(e=i.data.indexOf(T,e+1))!==-1;)c.push({type:7,index:a}),e+=T.length-1}}a++}}static createElement(e,t){let n=E.createElement(`template`);return n.innerHTML=e,n}};function L(e,t,n=e,r){if(t===P)return t;let i=r===void 0?n._$Cl:n._$Co?.[r],a=O(t)?void 0:t._$litDirective$;return i?.constructor!==a&&(i?._$AO?.(!1),a===void 0?i=void 0:(i=new a(e),i._$AT(e,n,r)),r===void 0?n._$Cl=i:(n._$Co??=[])[r]=i),i!==void 0&&(t=L(e,i._$AS(e,t.values),i,r)),t}var ye=class{constructor(e,t){this._$AV=[],this._$AN=void 0,this._$AD=e,this._$AM=t}get parentNode(){return this._$AM.parentNode}get _$AU(){return this._$AM._$AU}u(e){let{el:{content:t},parts:n}=this._$AD,r=(e?.creationScope??E).importNode(t,!0);I.currentNode=r;let i=I.nextNode(),a=0,o=0,s=n[0];for(;s!==void 0;){if(a===s.index){let t;s.type===2?t=new be(i,i.nextSibling,this,e):s.type===1?t=new s.ctor(i,s.name,s.strings,this,e):s.type===6&&(t=new Te(i,this,e)),this._$AV.push(t),s=n[++o]}a!==s?.index&&(i=I.nextNode(),a++)}return I.currentNode=E,r}p(e){let t=0;for(let n of this._$AV)n!==void 0&&(n.strings===void 0?n._$AI(e[t]):(n._$AI(e,n,t),t+=n.strings.length-2)),t++}},be=class e{get _$AU(){return this._$AM?._$AU??this._$Cv}constructor(e,t,n,r){this.type=2,this._$AH=F,this._$AN=void 0,this._$AA=e,this._$AB=t,this._$AM=n,this.options=r,this._$Cv=r?.isConnected??!0}get parentNode(){let e=this._$AA.parentNode,t=this._$AM;return t!==void 0&&e?.nodeType===11&&(e=t.parentNode),e}get startNode(){return this._$AA}get endNode(){return this._$AB}_$AI(e,t=this){e=L(this,e,t),O(e)?e===F||e==null||e===``?(this._$AH!==F&&this._$AR(),this._$AH=F):e!==this._$AH&&e!==P&&this._(e):e._$litType$===void 0?e.nodeType===void 0?se(e)?this.k(e):this._(e):this.T(e):this.$(e)}O(e){return this._$AA.parentNode.insertBefore(e,this._$AB)}T(e){this._$AH!==e&&(this._$AR(),this._$AH=this.O(e))}_(e){this._$AH!==F&&O(this._$AH)?this._$AA.nextSibling.data=e:this.T(E.createTextNode(e)),this._$AH=e}$(e){let{values:t,_$litType$:n}=e,r=typeof n==`number`?this._$AC(e):(n.el===void 0&&(n.el=ve.createElement(ge(n.h,n.h[0]),this.options)),n);if(this._$AH?._$AD===r)this._$AH.p(t);else{let e=new ye(r,this),n=e.u(this.options);e.p(t),this.T(n),this._$AH=e}}_$AC(e){let t=he.get(e.strings);return t===void 0&&he.set(e.strings,t=new ve(e)),t}k(t){oe(this._$AH)||(this._$AH=[],this._$AR());let n=this._$AH,r,i=0;for(let a of t)i===n.length?n.push(r=new e(this.O(D()),this.O(D()),this,this.options)):r=n[i],r._$AI(a),i++;i<n.length&&(this._$AR(r&&r._$AB.nextSibling,i),n.length=i)}_$AR(e=this._$AA.nextSibling,t){for(this._$AP?.(!1,!0,t);e!==this._$AB;){let t=w(e).nextSibling;w(e).remove(),e=t}}setConnected(e){this._$AM===void 0&&(this._$Cv=e,this._$AP?.(e))}},xe=class{get tagName(){return this.element.tagName}get _$AU(){return this._$AM._$AU}constructor(e,t,n,r,i){this.type=1,this._$AH=F,this._$AN=void 0,this.element=e,this.name=t,this._$AM=r,this.options=i,n.length>2||n[0]!==``||n[1]!==``?(this._$AH=Array(n.length-1).fill(new String),this.strings=n):this._$AH=F}_$AI(e,t=this,n,r){let i=this.strings,a=!1;if(i===void 0)e=L(this,e,t,0),a=!O(e)||e!==this._$AH&&e!==P,a&&(this._$AH=e);else{let r=e,o,s;for(e=i[0],o=0;o<i.length-1;o++)s=L(this,r[n+o],t,o),s===P&&(s=this._$AH[o]),a||=!O(s)||s!==this._$AH[o],s===F?e=F:e!==F&&(e+=(s??``)+i[o+1]),this._$AH[o]=s}a&&!r&&this.j(e)}j(e){e===F?this.element.removeAttribute(this.name):this.element.setAttribute(this.name,e??``)}},Se=class extends xe{constructor(){super(...arguments),this.type=3}j(e){this.element[this.name]=e===F?void 0:e}},Ce=class extends xe{constructor(){super(...arguments),this.type=4}j(e){this.element.toggleAttribute(this.name,!!e&&e!==F)}},we=class extends xe{constructor(e,t,n,r,i){super(e,t,n,r,i),this.type=5}_$AI(e,t=this){if((e=L(this,e,t,0)??F)===P)return;let n=this._$AH,r=e===F&&n!==F||e.capture!==n.capture||e.once!==n.once||e.passive!==n.passive,i=e!==F&&(n===F||r);r&&this.element.removeEventListener(this.name,this,n),i&&this.element.addEventListener(this.name,this,e),this._$AH=e}handleEvent(e){typeof this._$AH==`function`?this._$AH.call(this.options?.host??this.element,e):this._$AH.handleEvent(e)}},Te=class{constructor(e,t,n){this.element=e,this.type=6,this._$AN=void 0,this._$AM=t,this.options=n}get _$AU(){return this._$AM._$AU}_$AI(e){L(this,e)}},Ee=C.litHtmlPolyfillSupport;Ee?.(ve,be),(C.litHtmlVersions??=[]).push(`3.3.3`);var De=(e,t,n)=>{let r=n?.renderBefore??t,i=r._$litPart$;if(i===void 0){let e=n?.renderBefore??null;r._$litPart$=i=new be(t.insertBefore(D(),e),e,void 0,n??{})}return i._$AI(e),i},Oe=globalThis,R=class extends S{constructor(){super(...arguments),this.renderOptions={host:this},this._$Do=void 0}createRenderRoot(){let e=super.createRenderRoot();return this.renderOptions.renderBefore??=e.firstChild,e}update(e){let t=this.render();this.hasUpdated||(this.renderOptions.isConnected=this.isConnected),super.update(e),this._$Do=De(t,this.renderRoot,this.renderOptions)}connectedCallback(){super.connectedCallback(),this._$Do?.setConnected(!0)}disconnectedCallback(){super.disconnectedCallback(),this._$Do?.setConnected(!1)}render(){return P}};R._$litElement$=!0,R.finalized=!0,Oe.litElementHydrateSupport?.({LitElement:R});var ke=Oe.litElementPolyfillSupport;ke?.({LitElement:R}),(Oe.litElementVersions??=[]).push(`4.2.2`);var Ae=class extends Error{constructor(e,t){super(e),this.name=`ParseError`,this.type=t.type,this.field=t.field,this.value=t.value,this.line=t.line}},je=10,Me=13,z=32;function Ne(e){}function Pe(e){if(typeof e==`function`)throw TypeError("`config` must be an object, got a function instead. Did you mean `createParser({onEvent: fn})`?");let{onEvent:t=Ne,onError:n=Ne,onRetry:r=Ne,onComment:i,maxBufferSize:a}=e,o=[],s=0,c=!0,l,u=``,d=0,f,p=!1;function m(e){if(p)throw Error("Cannot feed parser: it was terminated after exceeding the configured max buffer size. Call `reset()` to resume parsing.");if(c&&(c=!1,e.charCodeAt(0)===239&&e.charCodeAt(1)===187&&e.charCodeAt(2)===191&&(e=e.slice(3))),o.length===0){let t=g(e);t!==``&&(o.push(t),s=t.length),h();return}if(e.indexOf(`
`)===-1&&e.indexOf(`\r`)===-1){o.push(e),s+=e.length,h();return}o.push(e);let t=o.join(``);o.length=0,s=0;let n=g(t);n!==``&&(o.push(n),s=n.length),h()}function h(){a!==void 0&&(s+u.length<=a||(p=!0,o.length=0,s=0,l=void 0,u=``,d=0,f=void 0,n(new Ae(`Buffered data exceeded max buffer size of ${a} characters`,{type:`max-buffer-size-exceeded`}))))}function g(e){let n=0;if(e.indexOf(`\r`)===-1){let r=e.indexOf(`
`,n);for(;r!==-1;){if(n===r){d>0&&t({id:l,event:f,data:u}),l=void 0,u=``,d=0,f=void 0,n=r+1,r=e.indexOf(`
`,n);continue}let i=e.charCodeAt(n);if(Fe(e,n,i)){let i=e.charCodeAt(n+5)===z?n+6:n+5,a=e.slice(i,r);if(d===0&&e.charCodeAt(r+1)===je){t({id:l,event:f,data:a}),l=void 0,u=``,f=void 0,n=r+2,r=e.indexOf(`
`,n);continue}u=d===0?a:`${u}
${a}`,d++}else Ie(e,n,i)?f=e.slice(e.charCodeAt(n+6)===z?n+7:n+6,r)||void 0:_(e,n,r);n=r+1,r=e.indexOf(`
`,n)}return e.slice(n)}for(;n<e.length;){let t=e.indexOf(`\r`,n),r=e.indexOf(`
`,n),i=-1;if(t!==-1&&r!==-1?i=t<r?t:r:t===-1?r!==-1&&(i=r):i=t===e.length-1?-1:t,i===-1)break;_(e,n,i),n=i+1,e.charCodeAt(n-1)===Me&&e.charCodeAt(n)===je&&n++}return e.slice(n)}function _(e,t,n){if(t===n){y();return}let r=e.charCodeAt(t);if(Fe(e,t,r)){let r=e.charCodeAt(t+5)===z?t+6:t+5,i=e.slice(r,n);u=d===0?i:`${u}
${i}`,d++;return}if(Ie(e,t,r)){f=e.slice(e.charCodeAt(t+6)===z?t+7:t+6,n)||void 0;return}if(r===105&&e.charCodeAt(t+1)===100&&e.charCodeAt(t+2)===58){let r=e.slice(e.charCodeAt(t+3)===z?t+4:t+3,n);r.includes(`\0`)||(l=r);return}if(r===58){if(i){let r=e.slice(t,n);i(r.slice(e.charCodeAt(t+1)===z?2:1))}return}let a=e.slice(t,n),o=a.indexOf(`:`);if(o===-1){v(a,``,a);return}let s=a.slice(0,o),c=a.charCodeAt(o+1)===z?2:1;v(s,a.slice(o+c),a)}function v(e,t,i){switch(e){case`event`:f=t||void 0;break;case`data`:u=d===0?t:`${u}
${t}`,d++;break;case`id`:t.includes(`\0`)||(l=t);break;case`retry`:/^\d+$/.test(t)?r(parseInt(t,10)):n(new Ae(`Invalid \`retry\` value: "${t}"`,{type:`invalid-retry`,value:t,line:i}));break;default:n(new Ae(`Unknown field "${e.length>20?`${e.slice(0,20)}\u2026`:e}"`,{type:`unknown-field`,field:e,value:t,line:i}))}}function y(){d>0&&t({id:l,event:f,data:u}),l=void 0,u=``,d=0,f=void 0}function b(e={}){if(e.consume&&o.length>0){let e=o.join(``);_(e,0,e.length)}c=!0,l=void 0,u=``,d=0,f=void 0,o.length=0,s=0,p=!1}return{feed:m,reset:b}}function Fe(e,t,n){return n===100&&e.charCodeAt(t+1)===97&&e.charCodeAt(t+2)===116&&e.charCodeAt(t+3)===97&&e.charCodeAt(t+4)===58}function Ie(e,t,n){return n===101&&e.charCodeAt(t+1)===118&&e.charCodeAt(t+2)===101&&e.charCodeAt(t+3)===110&&e.charCodeAt(t+4)===116&&e.charCodeAt(t+5)===58}var B=class extends Error{};async function*Le(e,t={}){let{pauses_ms:n=[500,1500,4e3],silence_ms:r=3e4,signal:i}=t,a=``;for(let t=0;;t+=1)try{let n=await e(a),i=n.headers.get(`X-Lutrin-Message`);i&&a===``&&(a=`${i}.0`);for await(let{id:e,event:i}of Re(n,r))if((e===``||e!==a)&&(a=e||a,t=0,yield i,i.type===`done`||i.type===`error`))return;throw new B(`the stream ended before the answer did`)}catch(e){let r=e instanceof B||e instanceof TypeError,o=n[t];if(!r||i?.aborted||a===``||o===void 0)throw e instanceof B?TypeError(e.message):e;yield{type:`resuming`},await new Promise(e=>setTimeout(e,o)),i?.throwIfAborted()}}async function*Re(e,t){if(!e.headers.get(`content-type`)?.startsWith(`text/event-stream`)){yield{id:``,event:ze(await e.json())};return}let n=[],r=Pe({onEvent:({id:e=``,event:t=``,data:r})=>{let i=JSON.parse(r);n.push({id:e,event:{...i,type:i.type??t}})}}),i=e.body?.getReader();if(!i)throw new B(`the response has no body`);let a=new TextDecoder,o=!1;try{for(;;){let{done:e,value:s}=await Be(i.read(),t);if(e)return;r.feed(a.decode(s,{stream:!0})),o||=n.some(({event:{type:e}})=>e===`done`||e===`error`),yield*n.splice(0)}}finally{(o?i.read():i.cancel()).catch(()=>void 0)}}function ze(e){return{type:`done`,answer:e.answer,sources:e.citations,mode:`book`,kind:`generated`,refusal:null,suggestions:e.suggestions,explanation:e.explanation,excerpts:e.excerpts,warnings:e.warnings,model_used:``,latency_ms:0,generation:``}}async function Be(e,t){let n,r=new Promise((e,r)=>{n=setTimeout(()=>r(new B(`the connection went silent`)),t)});try{return await Promise.race([e,r])}finally{clearTimeout(n)}}var Ve=class extends Error{status;retryAfter_s;constructor(e,t,n){super(t),this.status=e,this.retryAfter_s=n}},He=1e4,Ue=class{base;#e;#t;constructor(e,t,n=(...e)=>fetch(...e)){this.base=e,this.#e=t,this.#t=n}ask(e,t){let n=``;return{events:Le(async r=>{let i={"Content-Type":`application/json`,Accept:`text/event-stream`};r&&(i[`Last-Event-ID`]=r);let a=await this.#i(`chat`,{method:`POST`,headers:i,body:JSON.stringify(e),signal:t});return n=a.headers.get(`x-lutrin-message`)??n,a},{signal:t}),messageId:()=>n}}async history(e){let{messages:t}=await this.#n(`history/${encodeURIComponent(e)}`);return t}async sessions(){return(await this.#n(`sessions`)).sessions}async rename(e,t){await this.#r(`sessions/${encodeURIComponent(e)}`,`PATCH`,{title:t})}async remove(e){await this.#r(`sessions/${encodeURIComponent(e)}`,`DELETE`)}async exported(e,t){return(await this.#r(`sessions/${encodeURIComponent(e)}/export?form=${t}`,`GET`)).blob()}async judge(e,t,n){await this.#r(`messages/${encodeURIComponent(e)}/feedback`,`POST`,{value:t,comment:n})}async#n(e){return await(await this.#r(e,`GET`)).json()}#r(e,t,n){let r={method:t,signal:AbortSignal.timeout(He)};return n&&Object.assign(r,{body:JSON.stringify(n),headers:{"Content-Type":`application/json`}}),this.#i(e,r)}async#i(e,t){let n=await this.#t(new URL(e,this.base),{...t,headers:{...t.headers,"X-Lutrin-Client":this.#e},credentials:`omit`,cache:`no-store`,referrerPolicy:`no-referrer`});if(!n.ok)throw await Ge(n);return n}};function We(e,t){if(e?.trim())try{let n=new URL(e.trim(),t);return/^https?:$/.test(n.protocol)?(n.pathname.endsWith(`/`)||(n.pathname+=`/`),n.search=n.hash=``,n):void 0}catch{return}}async function Ge(e){let t={};try{t=await e.json()}catch{}let n=t.retry_after_s??Number(e.headers.get(`retry-after`)??0);return new Ve(e.status,t.detail??``,e.status===429?Math.max(1,n):0)}async function Ke(e){try{return await navigator.clipboard.writeText(e),!0}catch{let t=document.createElement(`textarea`);t.value=e,t.readOnly=!0,t.style.position=`fixed`,t.style.opacity=`0`,document.body.append(t),t.select();let n=document.execCommand(`copy`);return t.remove(),n}}var qe=12e3,Je=class{turns=[];phase=`idle`;restoreFailed=!1;admittedAt_ms=0;#e;#t;#n;#r=0;constructor(e,t=Date.now){this.#e=e,this.#t=t}get wait_s(){return Math.max(0,Math.ceil((this.admittedAt_ms-this.#t())/1e3))}get ready(){return this.phase===`idle`&&this.wait_s===0}clear(){this.stop(),this.#r+=1,this.turns=[],this.phase=`idle`,this.restoreFailed=!1,this.#e()}async restore(e,t){this.clear();let n=this.#r;this.phase=`restoring`,this.#e();try{let r=await e.history(t);if(n!==this.#r)return;this.turns=Xe(r)}catch{if(n!==this.#r)return;this.restoreFailed=!0}this.phase=`idle`,this.#e()}async ask(e,t,n){let r=n.text.trim();if(!r||!this.ready)return;this.turns=this.turns.filter(e=>e.state!==`failed`),this.restoreFailed=!1;let i=Ye(r,(n.selectedText??``).slice(0,qe),n.mode,this.#t());if(this.turns.push(i),!e)return this.#a(i,``);this.phase=`asking`,this.#e();let a=this.#n=new AbortController;try{await this.#i(e,i,t,n,a.signal)}catch(e){a.signal.aborted?i.state=`stopped`:this.#a(i,e instanceof Ve?this.#o(e):``)}return i.queue=void 0,i.resuming=!1,this.#n===a&&(this.#n=void 0,this.phase=`idle`),this.#e(),i}stop(){this.#n?.abort()}async judge(e,t,n,r=``){let i=t.verdict;t.verdict=n,this.#e();try{await e.judge(t.messageId,n,r)}catch{t.verdict=i,this.#e()}}async#i(e,t,n,{book:r,page:i},a){let{events:o,messageId:s}=e.ask({session_id:n,message:t.question,...t.selectedText&&{selected_text:t.selectedText},...t.mode&&{mode:t.mode},...r&&{book:r},...i&&{page:i}},a);for await(let e of o){switch(t.resuming=e.type===`resuming`,e.type!==`queued`&&e.type!==`resuming`&&(t.queue=void 0),e.type){case`queued`:t.queue=e;break;case`sources`:t.sources=e.citations;break;case`excerpt`:t.state=`streaming`,t.excerpts.push(e);break;case`sentence`:t.state=`streaming`,t.sentences.push(e);break;case`done`:t.state=`done`,t.answered=new Date(this.#t()),t.text=e.answer,t.explanation=e.explanation,t.excerpts=e.excerpts,t.sources=e.sources,t.kind=e.kind,t.refusal=e.refusal??void 0,t.suggestions=e.suggestions,t.warnings=e.warnings,t.messageId=s();break;case`error`:this.#a(t,e.detail)}this.#e()}}#a(e,t){return e.state=`failed`,e.error=t,this.#e(),e}#o(e){return e.retryAfter_s&&(this.admittedAt_ms=this.#t()+e.retryAfter_s*1e3),e.status<500||e.status===503?e.message:``}};function Ye(e,t,n,r){return{question:e,selectedText:t,mode:n,asked:new Date(r),answered:void 0,state:`waiting`,queue:void 0,resuming:!1,excerpts:[],sentences:[],sources:[],text:``,explanation:``,kind:void 0,refusal:void 0,suggestions:[],warnings:[],messageId:``,verdict:void 0,error:``}}function Xe(e){let t=[];for(let n of e){let e=t.at(-1),r=new Date(n.created);if(n.role===`user`){let e=Ye(n.text,n.selected_text,n.mode??void 0,r.getTime());t.push({...e,state:`stopped`});continue}let i={state:`done`,answered:r,text:n.text,explanation:n.explanation,excerpts:n.excerpts,sources:n.citations,kind:n.kind??void 0,refusal:n.refusal??void 0,suggestions:n.suggestions,warnings:n.warnings,messageId:n.id};e&&e.state===`stopped`?Object.assign(e,i):t.push({...Ye(``,``,void 0,r.getTime()),...i})}return t}function Ze(e){return e.text?e.excerpts.length?e.explanation:e.text:e.sentences.map(({text:e,citations:t})=>{let n=t.filter(t=>!e.includes(`[${t}]`)).map(e=>`[${e}]`);return n.length?`${e} ${n.join(``)}`:e}).join(` `)}function Qe(e,t){return e.sources.find(e=>e.n===t)}var $e=`lutrin:session`,et=`lutrin:secret`;function tt(e){try{let t=e();return t.getItem($e),t}catch{let e=new Map;return{getItem:t=>e.get(t)??null,setItem:(t,n)=>void e.set(t,n),removeItem:t=>void e.delete(t)}}}function V(e=crypto){if(typeof e.randomUUID==`function`)return e.randomUUID();let t=e.getRandomValues(new Uint8Array(16));return t[6]=(t[6]??0)&15|64,t[8]=(t[8]??0)&63|128,Array.from(t,e=>e.toString(16).padStart(2,`0`)).join(``).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/,`$1-$2-$3-$4-$5`)}var nt=class{known;#e;constructor(e){this.#e=e,this.known=e.getItem($e)!==null,this.known||(this.session=V()),e.getItem(et)===null&&e.setItem(et,V()+V())}get session(){return this.#e.getItem($e)??``}set session(e){this.#e.setItem($e,e)}startNew(){this.session=V()}get secret(){return this.#e.getItem(et)??``}},rt=`lutrin:met`,it=[0,.25,.5,.75,1],at=[0,.5,1],ot=4,st=class{shown;#e;#t;#n;#r=!1;constructor(e,t){this.#e=e,this.#t=t,this.shown=t.getItem(rt)===null,e.addController(this)}hostConnected(){this.#n=new AbortController;let{signal:e}=this.#n;addEventListener(`scroll`,()=>this.#a(),{signal:e,passive:!0}),addEventListener(`resize`,()=>this.#i(),{signal:e,passive:!0})}hostUpdated(){this.#r||this.#i()}hostDisconnected(){this.#n?.abort()}accept(){this.#t.setItem(rt,`yes`),this.#a()}#i(){let e=this.#e.renderRoot.querySelector(`.invitation`);this.#r=e!==null,e&&ct(e.getBoundingClientRect())&&this.#a()}#a(){this.shown&&(this.shown=!1,this.#e.requestUpdate())}};function ct(e){let t=it.flatMap(t=>at.map(n=>[e.left+t*e.width,e.top+n*e.height])),n=new Set(t.flatMap(([e,t])=>document.elementsFromPoint(e,t))),r=document.createRange();for(let t of n)for(let n of t.childNodes)if(n instanceof Text&&n.data.trim()){r.selectNodeContents(n);for(let t of r.getClientRects())if(lt(t,e))return!0}return!1}function lt(e,t){let[n,r]=[t.right+ot,t.bottom+ot];return e.left<n&&t.left<e.right+ot&&e.top<r&&t.top<e.bottom+ot}var[H,U]=[``,``];function ut(e){return e.map(ft).join(``)}function dt(e){return e.map(pt).join(` `)}function ft(e){switch(e.type){case`text`:case`code`:return e.text;case`math`:return e.tex;case`break`:return` `;case`cite`:return``;case`image`:return e.alt;default:return ut(e.children)}}function pt(e){switch(e.type){case`code`:return e.text;case`quote`:return dt(e.blocks);case`list`:return e.items.map(e=>dt(e.blocks)).join(` `);case`table`:return[e.header,...e.rows].flat().map(ut).join(` `);case`rule`:return``;default:return ut(e.children)}}var mt=64,ht=/[\\`*_~[\]!$<&\n]|https?:\/\//g,gt=/^\\([!-/:-@[-`{-~])/,_t=/^\[(\d{1,3})\](?![([])/,vt=/^\$(?![\s$])((?:\\[^\n]|[^\\$\n])+?)(?<!\s)\$(?!\d)/,yt=/^\$\$((?:\\[^]|[^\\$])+?)\$\$/,bt=/^<((?:https?:\/\/|mailto:)[^\s<>]{1,2000})>/,xt=/^https?:\/\/[^\s<>"'`\]]{1,2000}/,St=/^\(\s*(?:<([^<>\n]{0,2000})>|([^\s()<>]{0,2000}(?:\([^\s()<>]{0,500}\)[^\s()<>]{0,500}){0,3}))(?:\s+(?:"[^"]{0,500}"|'[^']{0,500}'))?\s*\)/,Ct=/^&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|(\w{2,6}));/,wt={amp:`&`,lt:`<`,gt:`>`,quot:`"`,apos:`'`,nbsp:`\xA0`};function Tt(e){let t=[],n=[],r=[],i=new Set,a=0,o=e=>{let n={type:`text`,text:e};return t.push(n),n},s=(n,r)=>{let i=n.exec(e.slice(a,a+8192)),o=i&&r(i);return o?(t.push(o),a+=i[0].length,!0):!1};function c(){let n=/^`+/.exec(e.slice(a))?.[0]??"`",r=a+n.length,s=RegExp(`(?<!\`)\`{${n.length}}(?!\`)`,`g`);s.lastIndex=r;let c=i.has(n.length)?null:s.exec(e);if(a=r,!c){i.add(n.length),o(n);return}let l=e.slice(r,c.index).replace(/\n/g,` `);t.push({type:`code`,text:/^ .*\S.* $/.test(l)?l.slice(1,-1):l}),a=c.index+n.length}function l(t,n){for(;e[t]===H||e[t]===U;)t+=n;return e[t]??` `}function u(t){let r=1;for(;e[a+r]===t;)r+=1;let[i,s]=[l(a-1,-1),l(a+r,1)],c=kt(i,s),u=kt(s,i),d=t===`_`&&c&&u;n.push({node:o(t.repeat(r)),char:t,count:r,opens:c&&(!d||At(i)),closes:u&&(!d||At(s))}),a+=r}function d(){a+=1;let i=r.pop(),s=i&&St.exec(e.slice(a,a+4096));if(!s){o(`]`);return}let c=Et(t.splice(t.lastIndexOf(i.node)).slice(1),n.splice(i.runs));a+=s[0].length;let l=(s[1]??s[2]??``).replace(/\\([!-/:-@[-`{-~])/g,`$1`);t.push(i.image?{type:`image`,alt:ut(c)}:{type:`link`,href:l,children:c})}for(;a<e.length;){ht.lastIndex=a;let i=ht.exec(e)?.index??e.length;i>a&&o(e.slice(a,i)),a=i;let l=e[a];if(l===void 0)break;if(!(l===`\\`&&s(gt,([,e=``])=>({type:`text`,text:e})))&&!(l===`\\`&&s(/^\\\n/,()=>({type:`break`})))){if(l===`
`){let e=t[t.length-1],n=e?.type===`text`&&/ {2,}$/.test(e.text);t.push(n?{type:`break`}:{type:`text`,text:`
`}),a+=1}else if(l==="`")c();else if(l===`*`||l===`_`||l===`~`)u(l);else if(l===`[`&&s(_t,([e,t])=>({type:`cite`,n:Number(t),raw:e})))continue;else if(l===`[`||l===`!`&&e[a+1]===`[`){let e=l===`!`;r.push({node:o(e?`![`:`[`),image:e,runs:n.length}),a+=e?2:1}else if(l===`]`)d();else if(l===`$`&&s(yt,([,e=``])=>({type:`math`,tex:e.trim(),display:!0})))continue;else if(l===`$`&&s(vt,([,e=``])=>({type:`math`,tex:e,display:!1})))continue;else if(l===`<`&&s(bt,([,e=``])=>jt(e)))continue;else if(l===`h`){let n=(xt.exec(e.slice(a,a+2048))?.[0]??l).replace(/[.,:;!?)*_~]+$/,``);t.push(jt(n)),a+=n.length}else if(l===`&`&&s(Ct,e=>({type:`text`,text:Mt(e)})))continue;else o(l),a+=1}}return Et(t,n)}function Et(e,t){let n=new Map(t.map(e=>[e.node,e])),r=[],i=[],a=()=>i[i.length-1]?.children??r,o=e=>{for(;i.length>e;){let{run:e,children:t}=i.pop()??{children:[]},n=a();e&&n.push(Dt(e));for(let e of t)n.push(e)}};for(let t of e){let e=n.get(t);if(!e)a().push(t);else{for(;e.closes&&e.count>0;){let t=i.findLastIndex(t=>Ot(t.run,e));if(t<0)break;o(t+1);let{run:n,children:r}=i.pop()??{run:e,children:[]},s=e.char===`~`?e.count:Math.min(n.count,e.count,2);n.count-=s,e.count-=s;let c=e.char===`~`?`del`:s===2?`strong`:`em`;n.count>0?i.push({run:n,children:[{type:c,children:r}]}):a().push({type:c,children:r})}e.count>0&&e.opens?i.push({run:e,children:[]}):e.count>0&&a().push(Dt(e)),i.length>mt&&o(0)}}return o(0),r}function Dt(e){return{type:`text`,text:e.char.repeat(e.count)}}function Ot(e,t){return e.char===t.char?e.char===`~`?e.count===t.count&&e.count<=2:!(e.closes||t.opens)||(e.count+t.count)%3!=0||e.count%3==0&&t.count%3==0:!1}function kt(e,t){return/\s/.test(t)?!1:!At(t)||/\s/.test(e)||At(e)}function At(e){return/[\p{P}\p{S}]/u.test(e)}function jt(e){return{type:`link`,href:e,children:[{type:`text`,text:e}]}}function Mt([e,t,n,r]){if(r)return wt[r]??e;let i=t?Number(t):parseInt(n??``,16);return i>0&&i<=1114111?String.fromCodePoint(i):`�`}var Nt=4e4,Pt=12,Ft=/^ {0,3}(`{3,}|~{3,})[ \t]*([^`]*)$/,It=/^ {0,3}#{1,6}(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/,Lt=/\s*\{#[^{}]*\}$/,Rt=/^ {0,3}(?:=+|-+)[ \t]*$/,zt=/^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/,W=/^ {0,3}> ?/,G=/^( {0,3})([-*+]|(\d{1,9})[.)])(?:[ \t]+(?=\S)|[ \t]*$)/,Bt=/^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/,Vt=/^ {0,3}:{3,}[ \t]*[a-z]/i,Ht=/^ {0,3}:{3,}[ \t]*$/;function Ut(e){return Wt(e.slice(0,Nt).replace(/\r\n?/g,`
`).replace(/\t/g,`    `).split(`
`),0)}function Wt(e,t){let n=[],r=0,i=t=>{let n=r;for(;r<e.length&&t(e[r]??``);)r+=1;return e.slice(n,r)};for(;r<e.length;){let a=e[r]??``,o=Ft.exec(a);if(!a.trim())r+=1;else if(t>Pt)n.push(Kt(i(()=>!0)));else if(o){let[e,t="```",s=``]=[a.search(/\S/),o[1],o[2]],c=RegExp(`^ {0,3}${t[0]}{${t.length},}[ \\t]*$`);r+=1;let l=i(e=>!c.test(e)).map(t=>t.replace(RegExp(`^ {0,${e}}`),``));r+=1,n.push({type:`code`,text:l.join(`
`),language:/^[\w+#.-]{1,20}/.exec(s)?.[0]??``})}else if(/^ {4}/.test(a)){let e=i(e=>/^ {4}|^\s*$/.test(e)).map(e=>e.slice(4));n.push({type:`code`,text:e.join(`
`).trimEnd(),language:``})}else if(It.test(a))r+=1,n.push({type:`heading`,children:Tt((It.exec(a)?.[1]??``).replace(Lt,``))});else if(zt.test(a))r+=1,n.push({type:`rule`});else if(W.test(a)){let e=!1,r=i(t=>{if(W.test(t))e=!!t.replace(W,``).trim();else if(!e||!t.trim()||Gt(t))return!1;return!0});n.push({type:`quote`,blocks:Wt(r.map(e=>e.replace(W,``)),t+1)})}else if(G.test(a)){let[i,a]=qt(e,r,t);n.push(i),r=a}else if(a.includes(`|`)&&Jt(a,e[r+1])){r+=2;let e=i(e=>e.includes(`|`)&&!!e.trim()&&!Gt(e)),t=Yt(a);n.push({type:`table`,header:t,rows:e.map(e=>Zt(Yt(e),t.length))})}else if(Vt.test(a)){r+=1;let e=i(e=>!Ht.test(e));r+=1;let o=/\[(.*)\]/.exec(a)?.[1];n.push({type:`quote`,blocks:Wt(o?[`**${o}**`,``,...e]:e,t+1)})}else{let t=r;r+=1;let o=[a,...i(e=>!!e.trim()&&!Gt(e)&&!Rt.test(e))],s=Rt.test(e[r]??``)&&r>t;s&&(r+=1),n.push({...Kt(o),type:s?`heading`:`paragraph`})}}return n}function Gt(e){let t=G.exec(e);return t!==null&&t[0].length<e.length&&(t[3]===void 0||t[3]===`1`)||Ft.test(e)||It.test(e)||zt.test(e)||W.test(e)||Ht.test(e)||Vt.test(e)}function Kt(e){return{type:`paragraph`,children:Tt(e.map(e=>e.trimStart()).join(`
`).trimEnd())}}function qt(e,t,n){let r=G.exec(e[t]??``),i=(e=``)=>e.at(-1)??``,a=[],[o,s]=[t,!0];for(;o<e.length;){let t=G.exec(e[o]??``);if(!t||i(t[2])!==i(r?.[2])||zt.test(e[o]??``))break;let c=t[0].length===(e[o]??``).length?t[0].trimEnd().length+1:t[0].length,l=[(e[o]??``).slice(t[0].length)];o+=1;let[u,d]=[!1,0];for(;o<e.length;o+=1){let t=e[o]??``,n=t.search(/\S/);if(n<0)d+=1;else if(n>=c||d===0&&!Gt(t)&&!G.test(t))d&&(u=!0),l.push(...Array(d).fill(``),n>=c?t.slice(c):t),d=0;else break}let f=G.exec(e[o]??``);(u||d&&f&&i(f[2])===i(r?.[2]))&&(s=!1);let p=/^\[([ xX])\] (?=\S)/.exec(l[0]??``);p&&(l[0]=(l[0]??``).slice(p[0].length)),a.push({checked:p?p[1]!==` `:void 0,blocks:Wt(l,n+1)})}return[{type:`list`,start:r?.[3]===void 0?void 0:Number(r[3]),tight:s,items:a},o]}function Jt(e,t){return!t||!Bt.test(t)?!1:Xt(e).length===Xt(t).length}function Yt(e){return Xt(e).map(Tt)}function Xt(e){return e.trim().replace(/^\|/,``).replace(/(?<!\\)\|$/,``).split(/(?<!\\)\|/).map(e=>e.replace(/\\\|/g,`|`).trim())}function Zt(e,t){return Array.from({length:t},(t,n)=>e[n]??[])}var K=RegExp(`[${H}${U}]`,`g`),Qt=RegExp(`[^${H}${U}]`,`g`),$t=/^\s*(?:`{3,}|~{3,})/,en=/^[\s\-=|:+*_>]*$/,tn=/^\s*:{3,}/,nn=/^(?:\s|>|[-*+]\s|\d{1,9}[.)]\s|#{1,6}\s|\[[ xX]\]\s)*/,rn=/^\s*(?:<\/?[A-Za-z][\w.:-]*(?:\s[^<>]*)?>|\{\/\*.*\*\/\}|<!--.*-->|(?:import|export)\s.*\bfrom\s.*)\s*$/,an=/<\/?(?:a|abbr|b|br|code|em|i|kbd|mark|s|small|span|strong|sub|sup|u)(?:\s[^<>]*)?\/?>/gi;function on(e,t){let n=Array.from(e.slice(0,Nt),e=>e===H||e===U?`�`:e),r=t.filter(([e=0,t=0])=>e>0||t<n.length),i=[],[a,o]=[0,!1];for(let e of sn(n)){let t=e.join(``),n=$t.test(t);!o&&rn.test(t)?i.push(``):n||!o&&(en.test(t)||tn.test(t))?i.push(t):i.push(cn(e,a,r,o)),n&&(o=!o),a+=e.length+1}return un(Ut(i.join(`
`)))}function sn(e){let t=[[]];for(let n of e)n===`
`?t.push([]):t.at(-1)?.push(n);return t}function cn(e,t,n,r){let i=r?e.findIndex(e=>e.trim()):Array.from(nn.exec(e.join(``))?.[0]??``).length,a=e=>n.some(([n=0,r=0])=>n<=t+e&&t+e<r),o=[],s=!1;e.forEach((e,t)=>{let n=t>=Math.max(0,i)&&!(!r&&e===`|`)&&(s||!!e.trim())&&a(t);n&&!s?o.push(H):s&&!n&&ln(o),s=n,o.push(e===`\r`?``:e)}),s&&ln(o);let c=o.join(``);return r?c:c.split(/(`+[^`]*`+)/).map((e,t)=>t%2?e:e.replace(an,e=>e.replace(Qt,``))).join(``)}function ln(e){let t=e.length;for(;!e[t-1]?.trim();)--t;e.splice(t,0,U)}function un(e){return e.map(e=>{switch(e.type){case`paragraph`:case`heading`:return{...e,children:fn(e.children)};case`code`:return{...e,...dn(e.text)};case`quote`:return{...e,blocks:un(e.blocks)};case`list`:return{...e,items:e.items.map(e=>({...e,blocks:un(e.blocks)}))};case`table`:return{...e,header:e.header.map(fn),rows:e.rows.map(e=>e.map(fn))};default:return e}})}function dn(e){let t=[],n=``;for(let r of e.split(RegExp(`(${H}[^${U}]*${U}?)`))){let e=r.replace(K,``);r.startsWith(H)&&t.push([n.length,n.length+e.length]),n+=e}return{text:n,marks:t}}function fn(e){let t=!1,n=e=>e.flatMap(r);function r(e){if(e.type===`text`)return e.text.split(RegExp(`([${H}${U}])`)).flatMap(e=>{if(e===H||e===U)t=e===H;else if(e)return[t?{type:`mark`,children:[{type:`text`,text:e}]}:{type:`text`,text:e}];return[]});if(e.type===`link`)return[{...e,href:e.href.replace(K,``),children:n(e.children)}];if(`children`in e)return[{...e,children:n(e.children)}];let r=(e.type===`code`?e.text:e.type===`math`?e.tex:e.type===`image`?e.alt:``).replace(Qt,``),i=t||r.includes(H);r&&(t=r.endsWith(H));let a=pn(e);return[i&&e.type!==`break`?{type:`mark`,children:[a]}:a]}return n(e)}function pn(e){switch(e.type){case`code`:return{...e,text:e.text.replace(K,``)};case`math`:return{...e,tex:e.tex.replace(K,``)};case`image`:return{...e,alt:e.alt.replace(K,``)};default:return e}}function mn(e){return dt(Ut(e)).replace(/\s+/g,` `).trim()}function hn(e){try{let t=new URL(e);return/^(https?|mailto):$/.test(t.protocol)?t.href:void 0}catch{return}}var gn=`script, style, template, noscript, lutrin-chat, .katex-html, semantics > :not(annotation), [aria-hidden="true"], .sr-only`,_n=`lutrin-passage`,vn=24;function yn(e,t,n){let r=xn(mn(t))||xn(t);if(!r)return;let i=Cn(e),a=n?wn(i,n):0,[o,s]=Sn(i.letters,r,a);return s>o?Tn(i,o,s):void 0}function bn(e){let t=e.startContainer.ownerDocument,{highlights:n}=CSS;if(!t||!n||typeof Highlight>`u`){let t=getSelection();t?.removeAllRanges(),t?.addRange(e)}else{if(!n.has(_n)){let e=new CSSStyleSheet;e.replaceSync(`::highlight(${_n}) {background-color: var(--lutrin-mark, #ffe08a); color: var(--lutrin-mark-text, #2e1f14)}`),t.adoptedStyleSheets=[...t.adoptedStyleSheets,e]}n.set(_n,new Highlight(e))}}function xn(e){return Array.from(e,e=>En(e)?Dn(e):``).join(``)}function Sn(e,t,n){let r=(t,n)=>{let r=e.indexOf(t,n);return r>=0?r:e.indexOf(t)},i=r(t,n);if(i>=0)return[i,i+t.length];if(t.length<=vn)return[0,0];let a=r(t.slice(0,vn),n),o=t.slice(-24);if(a<0){let e=r(o,n);return e<0?[0,0]:[e,e+o.length]}let s=e.indexOf(o,a);return[a,s>=0&&s-a<t.length*2?s+o.length:a+vn]}function Cn(e){let t={letters:``,nodes:[],owners:[],offsets:[]},n=[],r=document.createTreeWalker(e,NodeFilter.SHOW_TEXT,e=>e.parentElement?.closest(gn)?NodeFilter.FILTER_REJECT:NodeFilter.FILTER_ACCEPT);for(;r.nextNode();){let e=r.currentNode,i=t.nodes.push(e)-1,a=0;for(let r of e.data){if(En(r)){let e=Dn(r);n.push(e);for(let n=0;n<e.length;n+=1)t.owners.push(i),t.offsets.push(a)}a+=r.length}}return t.letters=n.join(``),t}function wn(e,t){let n=e.nodes.findIndex(e=>t.contains(e)||(t.compareDocumentPosition(e)&Node.DOCUMENT_POSITION_FOLLOWING)!==0),r=n<0?-1:e.owners.findIndex(e=>e>=n);return Math.max(0,r)}function Tn(e,t,n){let r=document.createRange(),i=t=>[e.nodes[e.owners[t]??0],e.offsets[t]??0],[a,o]=i(t),[s,c]=i(n-1),[l,u]=[a,s].map(e=>e.parentElement?.closest(`math`));if(l?r.setStartBefore(l):r.setStart(a,o),u)return r.setEndAfter(u),r;let d=c+String.fromCodePoint(s.data.codePointAt(c)??32).length;for(;/^[.!?)\]»”’"'…]/.test(s.data.slice(d));)d+=1;return r.setEnd(s,d),r}function En(e){return/[\p{L}\p{N}]/u.test(e)}function Dn(e){return e.toLowerCase()}var On=`lutrin:passage`,kn=6e4,An=[0,60,150,300,600,1200],jn=8;function Mn(e,t,n){let r=new URL(e.url.replace(/^\/+/,``),t);if(r.origin!==new URL(n).origin){let t=mn(e.quote).split(` `).filter(Boolean),n=e=>encodeURIComponent(e.join(` `)).replace(/-/g,`%2D`),i=t.length>8?`${n(t.slice(0,4))},${n(t.slice(-4))}`:n(t);r.hash=`${r.hash.slice(1)}:~:text=${i}`}return r}var Nn=class{#e;#t=0;constructor(e){this.#e=e}expect(e,t){let n={path:Fn(e.pathname),quote:t,at_ms:Date.now()};this.#e.setItem(On,JSON.stringify(n))}async arrived(){let e=this.#n();if(!e)return;let t=++this.#t;for(let n of An){if(await new Promise(e=>setTimeout(e,n)),t!==this.#t)return;let r=In(location.hash);if(location.hash&&!r)continue;let i=yn(Ln(r),e.quote,r);if(i){bn(i),r||await Rn(),t===this.#t&&zn(i,r);return}}}#n(){let e=this.#e.getItem(On);if(!e)return;let t=JSON.parse(e),n=Date.now()-t.at_ms<kn;if(!(n&&t.path!==Fn(location.pathname)))return this.#e.removeItem(On),n?t:void 0}};function Pn(e,t){return e.origin===t.origin&&Fn(e.pathname)===Fn(t.pathname)&&e.search===t.search}function Fn(e){return e.replace(/(?:\/index)?(?:\.html)?\/?$/,``)}function In(e){try{return document.getElementById(decodeURIComponent(e.slice(1)))}catch{return null}}function Ln(e){return e?.closest(`article, main, [role="main"]`)??document.querySelector(`article, main, [role="main"]`)??document.body}async function Rn(){scrollTo({top:scrollY,behavior:`instant`});for(let e=0;e<2;e+=1)await new Promise(requestAnimationFrame)}function zn(e,t){let n=e.startContainer.parentElement?.closest(`details`);for(;n;n=n.parentElement?.closest(`details`))n.open=!0;let{top:r,bottom:i}=e.getBoundingClientRect(),a=Bn(getComputedStyle(document.documentElement).scrollPaddingTop),o=t?Bn(getComputedStyle(t).scrollMarginTop):0,s=t?t.getBoundingClientRect().top-o-a:0,c=e=>r-e>=a-jn&&i-e<=innerHeight;if(c(s))c(0)||t?.scrollIntoView();else{let e=matchMedia(`(prefers-reduced-motion: reduce)`).matches;scrollBy({top:r-innerHeight/3,behavior:e?`instant`:`smooth`})}}function Bn(e){return parseFloat(e)||0}var Vn=`data-lutrin-context`,Hn=`button, a, summary, [role="button"], input, select, textarea, label`,Un=class{#e;#t;#n;constructor(e,t){this.#e=e,this.#t=t,e.addController(this)}hostConnected(){let{signal:e}=this.#n=new AbortController;addEventListener(`lutrin:ask`,e=>this.#t.ask(Wn(e)),{signal:e}),document.addEventListener(`click`,e=>this.#r(e),{signal:e})}hostDisconnected(){this.#n?.abort()}#r(e){if(e.composedPath().includes(this.#e)||!(e.target instanceof Element))return;let t=e.target.closest(`a[data-lutrin-quote]`);if(t)return this.#t.lead(e,new URL(t.href),t.dataset.lutrinQuote??``);let n=e.target.closest(`[${Vn}]`);if(!n)return;let r=(n.getAttribute(Vn)||n.textContent||``).trim();if(n.matches(Hn)){n instanceof HTMLAnchorElement&&e.preventDefault(),this.#t.ask({selectedText:r,question:n.getAttribute(`data-lutrin-question`)??``});return}let i=e.target.closest(Hn);getSelection()?.isCollapsed!==!1&&!(i&&n.contains(i))&&this.#t.offer(r,n)}};function Wn(e){let{question:t,selectedText:n}=(e instanceof CustomEvent?e.detail:void 0)??{};return{question:typeof t==`string`?t.trim():``,selectedText:typeof n==`string`?n.trim():``}}var Gn=Math.min,Kn=Math.max,qn={left:`right`,right:`left`,bottom:`top`,top:`bottom`};function Jn(e,t,n){return Kn(e,Gn(t,n))}function Yn(e,t){return typeof e==`function`?e(t):e}function q(e){return e.split(`-`)[0]}function J(e){return e.split(`-`)[1]}function Xn(e){return e===`x`?`y`:`x`}function Zn(e){return e===`y`?`height`:`width`}function Y(e){let t=e[0];return t===`t`||t===`b`?`y`:`x`}function Qn(e){return Xn(Y(e))}function $n(e,t,n){n===void 0&&(n=!1);let r=J(e),i=Qn(e),a=Zn(i),o=i===`x`?r===(n?`end`:`start`)?`right`:`left`:r===`start`?`bottom`:`top`;return t.reference[a]>t.floating[a]&&(o=cr(o)),[o,cr(o)]}function er(e){let t=cr(e);return[tr(e),t,tr(t)]}function tr(e){return e.includes(`start`)?e.replace(`start`,`end`):e.replace(`end`,`start`)}var nr=[`left`,`right`],rr=[`right`,`left`],ir=[`top`,`bottom`],ar=[`bottom`,`top`];function or(e,t,n){switch(e){case`top`:case`bottom`:return n?t?rr:nr:t?nr:rr;case`left`:case`right`:return t?ir:ar;default:return[]}}function sr(e,t,n,r){let i=J(e),a=or(q(e),n===`start`,r);return i&&(a=a.map(e=>e+`-`+i),t&&(a=a.concat(a.map(tr)))),a}function cr(e){let t=q(e);return qn[t]+e.slice(t.length)}function lr(e){return{top:e.top??0,right:e.right??0,bottom:e.bottom??0,left:e.left??0}}function ur(e){return typeof e==`number`?{top:e,right:e,bottom:e,left:e}:lr(e)}function dr(e){let{x:t,y:n,width:r,height:i}=e;return{width:r,height:i,top:n,left:t,right:t+r,bottom:n+i,x:t,y:n}}function fr(e,t,n){let{reference:r,floating:i}=e,a=Y(t),o=Qn(t),s=Zn(o),c=q(t),l=a===`y`,u=r.x+r.width/2-i.width/2,d=r.y+r.height/2-i.height/2,f=r[s]/2-i[s]/2,p;switch(c){case`top`:p={x:u,y:r.y-i.height};break;case`bottom`:p={x:u,y:r.y+r.height};break;case`right`:p={x:r.x+r.width,y:d};break;case`left`:p={x:r.x-i.width,y:d};break;default:p={x:r.x,y:r.y}}let m=J(t);return m&&(p[o]+=f*(m===`end`?1:-1)*(n&&l?-1:1)),p}async function pr(e,t){t===void 0&&(t={});let{x:n,y:r,platform:i,rects:a,elements:o,strategy:s}=e,{boundary:c=`clippingAncestors`,rootBoundary:l=`viewport`,elementContext:u=`floating`,altBoundary:d=!1,padding:f=0}=Yn(t,e),p=ur(f),m=o[d?u===`floating`?`reference`:`floating`:u],h=dr(await i.getClippingRect({element:await(i.isElement==null?void 0:i.isElement(m))??!0?m:m.contextElement||await(i.getDocumentElement==null?void 0:i.getDocumentElement(o.floating)),boundary:c,rootBoundary:l,strategy:s})),g=u===`floating`?{x:n,y:r,width:a.floating.width,height:a.floating.height}:a.reference,_=await(i.getOffsetParent==null?void 0:i.getOffsetParent(o.floating)),v=await(i.isElement==null?void 0:i.isElement(_))&&await(i.getScale==null?void 0:i.getScale(_))||{x:1,y:1},y=dr(i.convertOffsetParentRelativeRectToViewportRelativeRect?await i.convertOffsetParentRelativeRectToViewportRelativeRect({elements:o,rect:g,offsetParent:_,strategy:s}):g);return{top:(h.top-y.top+p.top)/v.y,bottom:(y.bottom-h.bottom+p.bottom)/v.y,left:(h.left-y.left+p.left)/v.x,right:(y.right-h.right+p.right)/v.x}}var mr=50,hr=async(e,t,n)=>{let{placement:r=`bottom`,strategy:i=`absolute`,middleware:a=[],platform:o}=n,s=o.detectOverflow?o:{...o,detectOverflow:pr},c=await(o.isRTL==null?void 0:o.isRTL(t)),l=await o.getElementRects({reference:e,floating:t,strategy:i}),{x:u,y:d}=fr(l,r,c),f=r,p=0,m={};for(let n=0;n<a.length;n++){let h=a[n];if(!h)continue;let{name:g,fn:_}=h,{x:v,y,data:b,reset:x}=await _({x:u,y:d,initialPlacement:r,placement:f,strategy:i,middlewareData:m,rects:l,platform:s,elements:{reference:e,floating:t}});u=v??u,d=y??d,m[g]={...m[g],...b},x&&p<mr&&(p++,typeof x==`object`&&(x.placement&&(f=x.placement),x.rects&&(l=x.rects===!0?await o.getElementRects({reference:e,floating:t,strategy:i}):x.rects),{x:u,y:d}=fr(l,f,c)),n=-1)}return{x:u,y:d,placement:f,strategy:i,middlewareData:m}},gr=function(e){return e===void 0&&(e={}),{name:`flip`,options:e,async fn(t){var n;let{placement:r,middlewareData:i,rects:a,initialPlacement:o,platform:s,elements:c}=t,{mainAxis:l=!0,crossAxis:u=!0,fallbackPlacements:d,fallbackStrategy:f=`bestFit`,fallbackAxisSideDirection:p=`none`,flipAlignment:m=!0,...h}=Yn(e,t);if((n=i.arrow)!=null&&n.alignmentOffset)return{};let g=q(r),_=Y(o),v=q(o)===o,y=await(s.isRTL==null?void 0:s.isRTL(c.floating)),b=d||(v||!m?[cr(o)]:er(o)),x=p!==`none`;!d&&x&&b.push(...sr(o,m,p,y));let ee=[o,...b],S=await s.detectOverflow(t,h),C=[],w=i.flip?.overflows||[];if(l&&C.push(S[g]),u){let e=$n(r,a,y);C.push(S[e[0]],S[e[1]])}if(w=[...w,{placement:r,overflows:C}],!C.every(e=>e<=0)){let e=(i.flip?.index||0)+1,t=ee[e];if(t&&(u!==`alignment`||_===Y(t)||w.every(e=>Y(e.placement)!==_||e.overflows[0]>0)))return{data:{index:e,overflows:w},reset:{placement:t}};let n=w.filter(e=>e.overflows[0]<=0).sort((e,t)=>e.overflows[1]-t.overflows[1])[0]?.placement;if(!n)switch(f){case`bestFit`:{let e=w.filter(e=>{if(x){let t=Y(e.placement);return t===_||t===`y`}return!0}).map(e=>[e.placement,e.overflows.filter(e=>e>0).reduce((e,t)=>e+t,0)]).sort((e,t)=>e[1]-t[1])[0]?.[0];e&&(n=e);break}case`initialPlacement`:n=o}if(r!==n)return{reset:{placement:n}}}return{}}}},_r=new Set([`left`,`top`]);async function vr(e,t){let{placement:n,platform:r,elements:i}=e,a=await(r.isRTL==null?void 0:r.isRTL(i.floating)),o=q(n),s=J(n),c=Y(n)===`y`,l=_r.has(o)?-1:1,u=a&&c?-1:1,d=Yn(t,e),{mainAxis:f,crossAxis:p,alignmentAxis:m}=typeof d==`number`?{mainAxis:d,crossAxis:0,alignmentAxis:null}:{mainAxis:d.mainAxis||0,crossAxis:d.crossAxis||0,alignmentAxis:d.alignmentAxis};return s&&typeof m==`number`&&(p=s===`end`?m*-1:m),c?{x:p*u,y:f*l}:{x:f*l,y:p*u}}var yr=function(e){return e===void 0&&(e=0),{name:`offset`,options:e,async fn(t){var n;let{x:r,y:i,placement:a,middlewareData:o}=t,s=await vr(t,e);return a===o.offset?.placement&&(n=o.arrow)!=null&&n.alignmentOffset?{}:{x:r+s.x,y:i+s.y,data:{...s,placement:a}}}}},br=function(e){return e===void 0&&(e={}),{name:`shift`,options:e,async fn(t){let{x:n,y:r,placement:i,platform:a}=t,{mainAxis:o=!0,crossAxis:s=!1,limiter:c={fn:e=>{let{x:t,y:n}=e;return{x:t,y:n}}},...l}=Yn(e,t),u={x:n,y:r},d=await a.detectOverflow(t,l),f=Y(i),p=Xn(f),m=u[p],h=u[f],g=(e,t)=>Jn(t+d[e===`y`?`top`:`left`],t,t-d[e===`y`?`bottom`:`right`]);o&&(m=g(p,m)),s&&(h=g(f,h));let _=c.fn({...t,[p]:m,[f]:h});return{..._,data:{x:_.x-n,y:_.y-r,enabled:{[p]:o,[f]:s}}}}}},xr={getElementRects:({reference:e,floating:t})=>({reference:e.getBoundingClientRect(),floating:{x:0,y:0,width:t.offsetWidth,height:t.offsetHeight}}),getClippingRect:()=>({x:0,y:0,width:document.documentElement.clientWidth,height:innerHeight}),getDimensions:e=>({width:e.offsetWidth,height:e.offsetHeight})};async function Sr(e,t,n){let{x:r,y:i}=await hr(e,t,{platform:xr,strategy:`fixed`,placement:n,middleware:[yr(8),gr({padding:8}),br({padding:8})]});t.style.left=`${Math.round(r)}px`,t.style.top=`${Math.round(i)}px`}var Cr=120,wr=200,Tr=class{citation;tapped=!1;#e;#t;#n;#r;constructor(e,t){this.#e=e,this.#t=t,e.addController(this)}hostDisconnected(){clearTimeout(this.#r)}hostUpdated(){let e=this.#t();e&&this.#n&&Sr(this.#n,e,`top`)}hover(e,t){this.#a(Cr,()=>this.#i(e,t,!1))}focus(e,t){this.tapped||this.#i(e,t,!1)}tap(e,t){return this.tapped&&this.#n===t?!1:(this.#i(e,t,!0),!0)}keep(){clearTimeout(this.#r)}leave(){this.tapped||this.#a(wr,()=>this.hide())}scrolled(e){if(!this.#n)return;let[t,n]=[this.#n.getBoundingClientRect(),e.getBoundingClientRect()];t.bottom<n.top||t.top>n.bottom?this.hide():this.hostUpdated()}hide(){clearTimeout(this.#r),this.citation&&(this.citation=void 0,this.#n=void 0,this.tapped=!1,this.#e.requestUpdate())}#i(e,t,n){clearTimeout(this.#r),this.citation=e,this.#n=t,this.tapped=n,this.#e.requestUpdate()}#a(e,t){clearTimeout(this.#r),this.#r=setTimeout(t,e)}},Er=32,Dr=12,Or=class{below=!1;#e=!0;#t;follow(){this.#e=!0,this.#t=void 0}drawn(e){if(!e)return;let t=e.scrollHeight-e.clientHeight;if(this.#n(e)&&e.scrollTop<t-2&&(this.#e=!1),this.#e){let n=e.querySelectorAll(`.message.user`),r=n[n.length-1],i=r?r.offsetTop-Dr:t;this.#t=Math.max(0,Math.min(t,i)),e.scrollTop=this.#t}this.#r(e)}scrolled(e){let t=this.below;return this.#n(e)&&(this.#e=!1),this.#r(e),this.below!==t}toEnd(e){e?.scrollTo({top:e.scrollHeight})}#n(e){return this.#t!==void 0&&Math.abs(e.scrollTop-this.#t)>2}#r(e){this.below=e.scrollHeight-e.clientHeight-e.scrollTop>Er}},kr=200,Ar=2,jr=class{text=``;#e;#t;#n;#r;#i=!1;#a=!1;#o=!1;#s;#c=``;#l;constructor(e,t,n){this.#e=e,this.#t=t,this.#n=n,e.addController(this)}hostConnected(){let{signal:e}=this.#l=new AbortController,t={signal:e,passive:!0,capture:!0};document.addEventListener(`selectionchange`,()=>this.#u(),{signal:e}),document.addEventListener(`pointerdown`,e=>this.#d(e),t);for(let e of[`pointerup`,`pointercancel`])document.addEventListener(e,()=>this.#f(),t);document.addEventListener(`keydown`,e=>this.#p(e),{signal:e,capture:!0});for(let e of[`scroll`,`resize`])addEventListener(e,()=>this.reposition(),t)}hostDisconnected(){this.#l?.abort(),clearTimeout(this.#s)}hostUpdated(){this.reposition()}offer(e,t){this.#o=!0,this.#g(e,()=>t.getBoundingClientRect())}hide(){clearTimeout(this.#s),this.text&&(this.text=``,this.#o=!1,this.#r=void 0,this.#e.requestUpdate())}reposition(){let[e,t]=[this.#t(),this.#r];if(!e||!t)return;let n=t();e.classList.toggle(`away`,n.bottom<0||n.top>innerHeight),Sr({getBoundingClientRect:()=>n},e,this.#a?`bottom`:`top`)}#u(){clearTimeout(this.#s),this.#i||(this.#s=setTimeout(()=>this.#m(),kr))}#d(e){e.composedPath().includes(this.#e)||(this.#a=e.pointerType===`touch`,this.#i=!this.#a,this.#c=``,(!this.#a||this.#o)&&this.hide())}#f(){this.#i&&(this.#i=!1,this.#u())}#p(e){if(this.text&&!e.composedPath().includes(this.#e)){if(e.key===`Escape`)this.#c=this.text,this.hide();else if(e.key===`Tab`&&!e.shiftKey&&!e.altKey&&!e.ctrlKey&&!e.metaKey){let t=this.#t()?.querySelector(`button`);if(!t)return;e.preventDefault(),t.focus({preventScroll:!0})}}}#m(){let e=getSelection(),t=e?.toString().trim()??``,n=e?.rangeCount?e.getRangeAt(0):void 0;!n||!this.#n()||!this.#h(t,n)?!this.#o&&!this.#t()?.matches(`:focus-within`)&&this.hide():t!==this.#c&&(this.#o=!1,this.#g(t,()=>n.getBoundingClientRect()))}#h(e,t){if((e.match(/[\p{L}\p{N}]/gu)?.length??0)<Ar)return!1;let n=t.commonAncestorContainer,r=n instanceof Element?n:n.parentElement,i=`input, textarea, select, [contenteditable]:not([contenteditable="false"])`;return!document.activeElement?.matches(i)&&!r?.closest(`${i}, lutrin-chat`)}#g(e,t){this.text=e,this.#r=t,this.#e.requestUpdate()}},Mr=class{sessions;failed=!1;renaming=``;removing=``;#e;constructor(e){this.#e=e}async load(e){this.sessions=void 0,this.cancel(),await this.#t(async()=>{if(!e)throw TypeError(`no server is named`);this.sessions=await e.sessions()})}startRenaming(e){this.cancel(),this.renaming=e.id,this.#e()}startRemoving(e){this.cancel(),this.removing=e.id,this.#e()}cancel(){this.renaming=this.removing=``,this.#e()}async rename(e,t,n){this.cancel(),n.trim()&&n.trim()!==t.title&&await this.#t(async()=>{await e.rename(t.id,n.trim()),t.title=n.trim()})}async remove(e,t){return this.cancel(),this.#t(async()=>{await e.remove(t.id),this.sessions=this.sessions?.filter(({id:e})=>e!==t.id)})}async save(e,t,n){await this.#t(async()=>{let r=URL.createObjectURL(await e.exported(t.id,n)),i=document.createElement(`a`);i.href=r,i.download=`conversation-${t.created.slice(0,10)}.${n===`json`?`json`:`md`}`,i.click(),setTimeout(()=>URL.revokeObjectURL(r),1e4)})}async#t(e){this.failed=!1;try{await e()}catch{this.failed=!0}return this.#e(),!this.failed}},Nr=o`
  button {
    font-family: inherit;
    touch-action: manipulation;
  }
  svg {
    fill: none;
    stroke: currentcolor;
    stroke-width: 1.7;
    stroke-linecap: round;
    stroke-linejoin: round;
  }
  .solid {
    fill: currentcolor;
  }
  .icon {
    display: inline-grid;
    grid-auto-flow: column;
    place-items: center;
    min-width: 36px;
    height: 36px;
    padding: 0;
    border: 1px solid transparent;
    border-radius: 8px;
    color: var(--_quiet);
    background: none;
    cursor: pointer;
  }
  .head .icon {
    min-width: 40px;
    height: 40px;
    color: var(--_ink);
  }
  footer .icon {
    min-width: 32px;
    height: 32px;
  }
  footer .icon svg,
  .code .icon svg,
  .named svg {
    width: 17px;
    height: 17px;
  }
  .named {
    min-width: 30px;
    grid-auto-flow: row;
    align-content: center;
    font-size: 11px;
    line-height: 1;
  }
  .icon:hover {
    color: var(--_ink);
    background: color-mix(in srgb, var(--_line) 45%, transparent);
  }
  .icon[aria-pressed="true"] {
    color: var(--_on-accent);
    background: var(--_accent);
  }
  .icon.copied {
    color: var(--_on-accent);
    background: var(--_accent);
  }
  .chip {
    display: inline-flex;
    align-items: center;
    gap: 4px;
    min-height: 32px;
    padding: 4px 12px;
    border: 1px solid var(--_line);
    border-radius: 16px;
    font: 13px/1.3 var(--_font);
    color: var(--_ink);
    text-align: start;
    text-decoration: none;
    background: var(--_paper);
    cursor: pointer;
  }
  .chip svg {
    width: 16px;
    height: 16px;
  }
  .chip:hover {
    border-color: var(--_accent);
  }
  .text + .chip,
  .error + .chip {
    margin: 8px 0 4px;
  }
  .danger {
    color: var(--_error);
  }
  button:disabled {
    opacity: 0.5;
    cursor: default;
  }
  .round {
    display: grid;
    flex: none;
    place-items: center;
    width: 36px;
    height: 36px;
    padding: 0;
    border: 1px solid transparent;
    border-radius: 50%;
    color: var(--_on-accent);
    background: var(--_accent);
    cursor: pointer;
  }
  input:not([type="checkbox"]) {
    flex: 1;
    min-width: 0;
    padding: 6px 10px;
    border: 1px solid var(--_quiet);
    border-radius: 8px;
    font: inherit;
    color: inherit;
    background: var(--_paper);
  }
  .composer {
    padding: 10px 12px max(12px, env(safe-area-inset-bottom));
    border-top: 1px solid var(--_line);
  }
  .row {
    display: flex;
    align-items: flex-end;
    gap: 8px;
    padding: 5px;
    padding-inline-start: 14px;
    border: 1px solid var(--_quiet);
    border-radius: 24px;
    background: var(--_paper);
  }
  .row:has(textarea:focus) {
    outline: 2px solid var(--_accent);
    outline-offset: 1px;
  }
  textarea {
    flex: 1;
    min-width: 0;
    height: 36px;
    max-height: 132px;
    padding: 7px 0;
    border: 0;
    outline: none;
    font: 16px/22px var(--_font);
    color: inherit;
    background: none;
    resize: none;
    field-sizing: content;
    min-height: 36px;
  }
  @supports (field-sizing: content) {
    textarea {
      height: auto;
    }
  }
  textarea:focus-visible {
    outline: none;
  }
  textarea::placeholder,
  input::placeholder {
    color: var(--_quiet);
    opacity: 1;
  }
  .wait {
    margin: 0 4px 8px;
    font-size: 14px;
    color: var(--_quiet);
  }
  .selection {
    display: grid;
    grid-template-columns: 1fr auto;
    align-items: start;
    margin-bottom: 8px;
    padding: 6px 4px 6px 10px;
    border: 1px solid var(--_line);
    border-radius: 10px;
    background: var(--_sheet);
  }
  .selection blockquote {
    display: -webkit-box;
    margin: 4px 0 0;
    overflow: hidden;
    font: italic 14px/1.4 var(--_book);
    overflow-wrap: anywhere;
    -webkit-box-orient: vertical;
    -webkit-line-clamp: 3;
  }
  .selection label {
    display: flex;
    grid-column: 1 / -1;
    align-items: center;
    gap: 8px;
    min-height: 28px;
    font-size: 13px;
    color: var(--_quiet);
  }
  .selection input {
    accent-color: var(--_accent);
  }
  .toolbar {
    position: fixed;
    top: 0;
    left: 0;
    z-index: calc(var(--_layer) + 1);
    display: flex;
    overflow: hidden;
    border: 1px solid transparent;
    border-radius: 10px;
    background: var(--_accent);
    box-shadow: var(--_shadow);
  }
  .toolbar.away {
    visibility: hidden;
  }
  .toolbar button {
    min-height: 40px;
    padding: 4px 14px;
    border: 0;
    font: 550 14px/1.3 var(--_font);
    color: var(--_on-accent);
    background: none;
    cursor: pointer;
  }
  .toolbar button + button {
    border-inline-start: 1px solid color-mix(in srgb, var(--_on-accent) 30%, transparent);
  }
  .toolbar button:hover {
    background: color-mix(in srgb, var(--_on-accent) 16%, transparent);
  }
  .toolbar button:focus-visible {
    outline-color: var(--_on-accent);
    outline-offset: -4px;
  }
  .preview {
    position: fixed;
    top: 0;
    left: 0;
    z-index: calc(var(--_layer) + 2);
    width: max-content;
    max-width: min(360px, calc(100vw - 16px));
    max-height: 50vh;
    padding: 10px 14px;
    overflow: auto;
    overflow-wrap: anywhere;
    border: 1px solid var(--_line);
    border-radius: 10px;
    color: var(--_ink);
    background: var(--_paper);
    box-shadow: var(--_shadow);
  }
  .preview .label {
    margin: 6px 0 0;
  }
  .preview .chip {
    margin-top: 8px;
  }
  @media (forced-colors: active) {
    .message.user {
      color: CanvasText;
    }
    mark {
      color: MarkText;
      background: Mark;
      forced-color-adjust: none;
    }
    .cite,
    .source,
    .toolbar,
    .toolbar button + button {
      border: 1px solid;
    }
    .icon[aria-pressed="true"],
    .icon.copied {
      border-color: Highlight;
      color: HighlightText;
      background: Highlight;
      forced-color-adjust: none;
    }
  }
`,Pr=o`
  .message {
    width: fit-content;
    max-width: 88%;
    margin-bottom: 14px;
  }
  .message.user {
    margin-inline-start: auto;
    padding: 10px 14px 6px;
    border: 1px solid transparent;
    border-radius: 14px 14px 4px 14px;
    color: var(--_on-mine);
    background: var(--_mine);
  }
  .message.user .text {
    white-space: pre-wrap;
  }
  .message.book {
    min-width: 60%;
    max-width: 96%;
    padding: 12px 14px 6px;
    border: 1px solid var(--_line);
    border-radius: 14px 14px 14px 4px;
    background: var(--_sheet);
  }
  .selected {
    display: -webkit-box;
    margin: 0 0 6px;
    padding-inline-start: 10px;
    overflow: hidden;
    border-inline-start: 3px solid currentcolor;
    font: italic 14px/1.45 var(--_book);
    -webkit-box-orient: vertical;
    -webkit-line-clamp: 3;
  }
  time {
    display: block;
    margin-top: 4px;
    font-size: 12px;
    text-align: end;
  }
  .book time {
    margin: 0;
    color: var(--_quiet);
  }
  .text > :first-child,
  blockquote > :first-child,
  li > :first-child {
    margin-top: 0;
  }
  .text > :last-child,
  blockquote > :last-child,
  li > :last-child {
    margin-bottom: 0;
  }
  p,
  ul,
  ol {
    margin: 0 0 10px;
  }
  .cites {
    margin-top: -6px;
  }
  ul,
  ol {
    padding-inline-start: 22px;
  }
  .heading {
    font-weight: 650;
  }
  a {
    color: var(--_link);
  }
  hr {
    border: 0;
    border-top: 1px solid var(--_line);
  }
  .text blockquote {
    margin: 0 0 10px;
    padding-inline-start: 12px;
    border-inline-start: 3px solid var(--_line);
  }
  .from-book {
    margin: 4px 0 8px;
    padding: 8px 12px 10px;
    border-inline-start: 3px solid var(--_line);
    border-radius: 0 8px 8px 0;
    background: color-mix(in srgb, var(--_paper) 60%, transparent);
  }
  .from-book figure {
    margin: 0;
  }
  .from-book figure + figure {
    margin-top: 10px;
  }
  .from-book blockquote,
  .preview blockquote {
    margin: 0;
    padding: 0;
    border: 0;
    font: 16px/1.5 var(--_book);
  }
  .from-book blockquote blockquote {
    padding-inline-start: 12px;
    border-inline-start: 3px solid var(--_line);
  }
  .from-book blockquote :is(pre, code),
  .preview blockquote :is(pre, code) {
    font-family: var(--_mono);
  }
  .place {
    display: block;
    margin-bottom: 4px;
  }
  mark {
    padding: 0 1px;
    border-radius: 2px;
    color: inherit;
    background: var(--_marked);
  }
  figcaption,
  .label {
    font-size: 13px;
    color: var(--_quiet);
  }
  p.label {
    margin-bottom: 6px;
  }
  code {
    padding: 1px 4px;
    border-radius: 4px;
    font: 0.88em var(--_mono);
    background: color-mix(in srgb, var(--_line) 45%, transparent);
  }
  .code {
    margin: 0 0 10px;
    overflow: hidden;
    border: 1px solid var(--_line);
    border-radius: 8px;
    background: var(--_paper);
    text-align: left;
  }
  .language {
    display: flex;
    align-items: center;
    justify-content: space-between;
    padding-inline: 10px 2px;
    font-size: 12px;
    color: var(--_quiet);
  }
  pre {
    margin: 0;
    padding: 4px 10px 10px;
    overflow-x: auto;
  }
  pre:focus-visible,
  .table:focus-visible {
    outline-offset: -2px;
  }
  pre code {
    padding: 0;
    font-size: 13px;
    line-height: 1.5;
    background: none;
    overflow-wrap: normal;
  }
  .table {
    margin: 0 0 10px;
    overflow-x: auto;
  }
  table {
    border-collapse: collapse;
    font-size: 14px;
    overflow-wrap: normal;
  }
  th,
  td {
    padding: 5px 10px;
    border: 1px solid var(--_line);
    text-align: start;
    vertical-align: top;
  }
  math {
    font-size: 1.05em;
  }
  .image {
    color: var(--_quiet);
    font-style: italic;
  }
  .cite {
    display: inline-block;
    min-width: 18px;
    padding: 0 4px;
    border-radius: 6px;
    font: 600 12px/18px var(--_font);
    color: var(--_on-accent);
    text-align: center;
    text-decoration: none;
    background: var(--_accent);
    vertical-align: 1px;
  }
  .warning {
    margin-top: 10px;
    padding: 8px 10px;
    border-radius: 8px;
    background: var(--_caution);
    font-size: 14px;
  }
  .error {
    margin: 0 0 6px;
    color: var(--_error);
    font-weight: 550;
  }
  .suggestions {
    display: flex;
    flex-wrap: wrap;
    gap: 6px;
    margin: 6px 0;
  }
  .suggestions .label {
    width: 100%;
  }
  footer {
    display: flex;
    align-items: center;
    justify-content: space-between;
    min-height: 34px;
    margin-inline-end: -8px;
  }
  .actions {
    display: flex;
    margin-inline-start: auto;
  }
  .comment {
    display: flex;
    gap: 6px;
    margin: 4px 0 8px;
  }
  .progress {
    display: flex;
    align-items: center;
    gap: 10px;
    margin: 0 0 6px;
    color: var(--_quiet);
    font-size: 14px;
  }
  .dots {
    display: inline-flex;
    gap: 4px;
  }
  .dots i {
    width: 6px;
    height: 6px;
    border-radius: 50%;
    background: var(--_accent);
    animation: breathe 1.2s infinite ease-in-out;
  }
  .dots i:nth-child(2) {
    animation-delay: 0.15s;
  }
  .dots i:nth-child(3) {
    animation-delay: 0.3s;
  }
  @keyframes breathe {
    0%,
    60%,
    100% {
      opacity: 0.25;
    }
    30% {
      opacity: 1;
    }
  }
`,Fr=o`
  .bubble {
    position: fixed;
    right: max(24px, env(safe-area-inset-right));
    bottom: max(24px, env(safe-area-inset-bottom));
    z-index: var(--_layer);
    display: grid;
    place-items: center;
    width: 56px;
    height: 56px;
    padding: 0;
    border: 1px solid transparent;
    border-radius: 50%;
    color: var(--_on-accent);
    background: var(--_accent);
    box-shadow: var(--_shadow);
    cursor: pointer;
    transition: transform 0.15s;
  }
  .bubble svg {
    width: 28px;
    height: 28px;
  }
  .bubble:hover {
    transform: scale(1.06);
  }
  .invitation {
    position: fixed;
    right: max(24px, env(safe-area-inset-right));
    bottom: calc(max(24px, env(safe-area-inset-bottom)) + 68px);
    z-index: var(--_layer);
    padding: 6px 14px;
    border: 1px solid var(--_line);
    border-radius: 18px;
    background: var(--_paper);
    box-shadow: var(--_shadow);
    cursor: pointer;
  }
  .panel {
    position: fixed;
    right: 24px;
    bottom: 24px;
    z-index: var(--_layer);
    display: flex;
    flex-direction: column;
    width: min(400px, calc(100vw - 48px));
    height: min(640px, calc(100vh - 48px));
    overflow: hidden;
    border: 1px solid var(--_line);
    border-radius: 16px;
    background: var(--_paper);
    box-shadow: var(--_shadow);
    animation: rise 0.16s ease-out;
  }
  .panel:focus {
    outline: none;
  }
  @keyframes rise {
    from {
      opacity: 0;
      transform: translateY(12px);
    }
  }
  .head {
    display: flex;
    align-items: center;
    gap: 2px;
    padding: 8px;
    border-bottom: 1px solid var(--_line);
  }
  h2 {
    flex: 1;
    margin: 0 4px;
    overflow: hidden;
    font: 600 17px/1.3 var(--_book);
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .messages {
    position: relative;
    flex: 1;
    min-height: 0;
    padding: 16px;
    overflow-y: auto;
    overflow-wrap: anywhere;
    overscroll-behavior: contain;
    scrollbar-width: thin;
    scrollbar-color: var(--_line) transparent;
  }
  .messages:focus-visible {
    outline-offset: -3px;
  }
  .below {
    position: relative;
    height: 0;
  }
  .below .round {
    position: absolute;
    bottom: 8px;
    left: calc(50% - 18px);
    border: 1px solid var(--_line);
    color: var(--_ink);
    background: var(--_paper);
    box-shadow: 0 2px 10px rgb(0 0 0 / 20%);
  }
  .greeting {
    padding: 24px 8px;
    color: var(--_quiet);
  }
  .greeting .question {
    margin: 0 0 8px;
    font: 22px/1.3 var(--_book);
    color: var(--_ink);
  }
  .empty {
    color: var(--_quiet);
  }
  .conversations {
    margin: 0;
    padding: 0;
    list-style: none;
  }
  .conversations li {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    padding-bottom: 4px;
    border-bottom: 1px solid var(--_line);
  }
  .conversations .label {
    flex: 1;
    padding: 0 4px;
  }
  .conversations .open {
    width: 100%;
    padding: 8px 4px 2px;
    border: 0;
    border-radius: 8px;
    font: inherit;
    color: inherit;
    text-align: start;
    background: none;
    cursor: pointer;
  }
  .conversations .open:hover .title {
    text-decoration: underline;
  }
  .conversations .title {
    display: block;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .conversations .current .title {
    font-weight: 600;
  }
  .conversations form,
  .confirm {
    display: flex;
    flex: 1;
    flex-wrap: wrap;
    align-items: center;
    gap: 6px;
    padding: 8px 0;
  }
  .confirm span {
    flex: 1 0 100%;
    overflow-wrap: anywhere;
  }
  .status {
    position: fixed;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
  }
  @media (max-width: 480px) {
    .panel {
      inset: 0;
      width: auto;
      height: var(--_screen, 100vh);
      height: var(--_screen, 100dvh);
      border: 0;
      border-radius: 0;
    }
    .invitation {
      display: none;
    }
  }
`,Ir=o`
  --_paper: var(--lutrin-paper, #fbf6ec);
  --_sheet: var(--lutrin-sheet, #f2e8d6);
  --_line: var(--lutrin-line, #d9c7aa);
  --_ink: var(--lutrin-ink, #2e1f14);
  --_quiet: var(--lutrin-quiet, #6a5442);
  --_accent: var(--lutrin-accent, #5b3a21);
  --_on-accent: var(--lutrin-on-accent, #fbf3e4);
  --_mine: var(--lutrin-mine, var(--_accent));
  --_on-mine: var(--lutrin-on-mine, var(--_on-accent));
  --_link: var(--lutrin-link, #7c3f12);
  --_error: var(--lutrin-error, #8f1d14);
  --_caution: var(--lutrin-caution, #f6e2a8);
  --_marked: var(--lutrin-marked, #f7e3a1);
  --_shadow: 0 1px 2px rgb(46 31 20 / 18%), 0 12px 40px rgb(46 31 20 / 22%);
  color-scheme: light;
`,Lr=o`
  --_paper: var(--lutrin-paper-dark, #211812);
  --_sheet: var(--lutrin-sheet-dark, #31251c);
  --_line: var(--lutrin-line-dark, #54412f);
  --_ink: var(--lutrin-ink-dark, #f2e7d7);
  --_quiet: var(--lutrin-quiet-dark, #c4ae94);
  --_accent: var(--lutrin-accent-dark, #dcbd8e);
  --_on-accent: var(--lutrin-on-accent-dark, #2a1c10);
  --_mine: var(--lutrin-mine-dark, #634830);
  --_on-mine: var(--lutrin-on-mine-dark, #fbf0df);
  --_link: var(--lutrin-link-dark, #e9b97a);
  --_error: var(--lutrin-error-dark, #ffb4a8);
  --_caution: var(--lutrin-caution-dark, #4c3d16);
  --_marked: var(--lutrin-marked-dark, #5c4a1c);
  --_shadow: 0 0 0 1px rgb(0 0 0 / 40%), 0 12px 40px rgb(0 0 0 / 55%);
  color-scheme: dark;
`,Rr=[o`
  :host {
    ${Ir}
    --_book: var(--lutrin-book-font, ui-serif, "Iowan Old Style", Palatino, "Book Antiqua", P052, Georgia, serif);
    --_font: var(--lutrin-font, system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif);
    --_mono: ui-monospace, "Cascadia Mono", Menlo, Consolas, monospace;
    --_layer: var(--lutrin-layer, 9000);
    font: 15px/1.55 var(--_font);
    color: var(--_ink);
    text-align: start;
  }
  :host([scheme="dark"]) {
    ${Lr}
  }
  @media (prefers-color-scheme: dark) {
    :host(:not([scheme="light"])) {
      ${Lr}
    }
  }
  @media print {
    :host {
      display: none;
    }
  }
  *,
  ::before,
  ::after {
    box-sizing: border-box;
  }
  [hidden] {
    display: none !important;
  }
  :focus-visible {
    outline: 2px solid var(--_accent);
    outline-offset: 2px;
  }
  @media (prefers-reduced-motion: reduce) {
    *,
    ::before,
    ::after {
      animation: none !important;
      transition: none !important;
      scroll-behavior: auto !important;
    }
  }
`,Fr,Pr,Nr],zr={title:`Ask the book`,open:`Ask the book`,close:`Close`,conversations:`Conversations`,newConversation:`New conversation`,back:`Back to the conversation`,greeting:`What would you like to know?`,hint:`Answers come from the book alone, with the place where each one stands. Or select a sentence in the text to ask about it.`,placeholder:`Ask about the book`,message:`Your question`,messages:`Messages`,send:`Send`,stop:`Stop`,you:`You`,book:`The book`,searching:`Looking it up`,writing:`Writing`,restoring:`Opening your conversation`,queued:(e,t)=>`${e===1?`One reader is`:`${e} readers are`} before you, about ${Math.max(1,Math.round(t))} s`,resuming:`The connection was cut; picking it up again`,stopped:`Stopped.`,fromBook:`From the book`,source:(e,t)=>`Source ${e}: ${t}`,openSource:`Open in the book`,page:e=>`page ${e}`,image:e=>`Image: ${e}`,copy:`Copy`,copied:`Copied`,copyCode:`Copy code`,retry:`Try again`,good:`Helpful`,bad:`Not helpful`,whatWasWrong:`What was wrong? (optional)`,sendComment:`Send`,thanks:`Thank you.`,covered:`The book covers:`,askNext:`Ask next:`,askAbout:e=>`What does the book say about ${e}?`,searchBook:`Search the whole book`,selection:`Selected text`,removeSelection:`Remove the selection`,selectionOnly:`Answer from this passage alone`,toolbar:`Ask about the selected text`,ask:`Ask`,explain:`Explain`,simplify:`Simplify`,explainQuestion:`Explain this passage.`,simplifyQuestion:`Explain this passage in simpler words.`,toLatest:`Go to the newest text`,noConversations:`No conversations yet.`,untitled:`Conversation`,rename:`Rename`,name:`Name of the conversation`,save:`Save`,cancel:`Cancel`,remove:`Delete`,removeQuestion:e=>`Delete “${e}” for good?`,exportMarkdown:`Export as Markdown`,exportJson:`Export as JSON`,questions:e=>e===1?`1 message`:`${e} messages`,wait:e=>`You can ask again in ${e} s.`,wrong:`Something went wrong. Please try again.`},Br={book:M`<path d="M12 6.5C10 5 7 4.5 3.5 4.5v13c3.5 0 6.5.5 8.5 2 2-1.5 5-2 8.5-2v-13C17 4.5 14 5 12 6.5zM12 6.5v13"/>`,close:M`<path d="M6 6l12 12M18 6L6 18"/>`,list:M`<path d="M4 6.5h16M4 12h16M4 17.5h10"/>`,plus:M`<path d="M12 5v14M5 12h14"/>`,back:M`<path d="M14.5 5.5L8 12l6.5 6.5"/>`,send:M`<path d="M12 19.5V5M5.5 11.5L12 5l6.5 6.5"/>`,stop:M`<rect class="solid" x="7" y="7" width="10" height="10" rx="1.5"/>`,copy:M`<rect x="8.5" y="8.5" width="11" height="11" rx="2"/><path d="M15.5 5.5v-1h-11v11h1"/>`,check:M`<path d="M5 12.5l4.5 4.5L19 7.5"/>`,retry:M`<path d="M19 12a7 7 0 1 1-2.2-5.1M19 3.5v4h-4"/>`,up:M`<path d="M7.5 10.5v9h-3v-9zM7.5 10.5l4-7c1.5 0 2.2 1 2 2.5l-.5 3.5h5c1.3 0 2 1 1.7 2.2l-1.5 6c-.3 1.1-1 1.8-2.2 1.8H7.5"/>`,down:M`<path d="M16.5 13.5v-9h3v9zM16.5 13.5l-4 7c-1.5 0-2.2-1-2-2.5l.5-3.5H6c-1.3 0-2-1-1.7-2.2l1.5-6c.3-1.1 1-1.8 2.2-1.8h8.5"/>`,arrow:M`<path d="M12 5v14M5.5 12.5L12 19l6.5-6.5"/>`,edit:M`<path d="M5 19l1-4L16.5 4.5l3 3L9 18z"/>`,trash:M`<path d="M5 7h14M9.5 7V4.5h5V7M7 7l1 12.5h8L17 7M10.5 11v5M13.5 11v5"/>`,save:M`<path d="M12 4v11M7.5 11L12 15.5 16.5 11M5 19.5h14"/>`};function X(e){return j`<svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" focusable="false">${Br[e]}</svg>`}function Vr(e){let{texts:t,draft:n,phase:r,wait_s:i}=e,a=r===`asking`;return j`<form class="composer" @submit=${e.submit}>
    ${e.selection?Hr(e):F}
    ${i?j`<p class="wait" role="timer">${t.wait(i)}</p>`:F}
    <div class="row">
      <textarea rows="1" dir="auto" maxlength="8000" autocomplete="off" enterkeyhint="send"
        aria-label=${t.message} placeholder=${t.placeholder}
        .value=${n} ?disabled=${r!==`idle`} @input=${e.type} @keydown=${e.key}></textarea>
      ${a?j`<button class="round stop" type="button" aria-label=${t.stop} title=${t.stop} @click=${e.stop}>${X(`stop`)}</button>`:j`<button class="round send" aria-label=${t.send} title=${t.send}
            ?disabled=${r!==`idle`||i>0||!n.trim()}>${X(`send`)}</button>`}
    </div>
  </form>`}function Hr({texts:e,selection:t,selectionOnly:n,removeSelection:r,toggleSelectionOnly:i}){return j`<div class="selection" role="group" aria-label=${e.selection}>
    <blockquote dir="auto">${t}</blockquote>
    <button class="icon" type="button" aria-label=${e.removeSelection} title=${e.removeSelection} @click=${r}>${X(`close`)}</button>
    <label><input type="checkbox" .checked=${n} @change=${i} />${e.selectionOnly}</label>
  </div>`}function Ur(e){let{texts:t,sessions:n,failed:r}=e;return r?j`<p class="error" role="alert">${t.wrong}</p>`:n?n.length?j`<ul class="conversations">${n.map(t=>Wr(t,e))}</ul>`:j`<p class="empty">${t.noConversations}</p>`:j`<p class="progress"><span class="dots" aria-hidden="true"><i></i><i></i><i></i></span></p>`}function Wr(e,t){let{texts:n,current:r,renaming:i,removing:a}=t,o=i===e.id?Kr(e,t):a===e.id?qr(e,t):Gr(e,t);return j`<li aria-label=${e.title||n.untitled} class=${e.id===r?`current`:``}>${o}</li>`}function Gr(e,{texts:t,current:n,open:r,rename:i,remove:a,save:o}){let s=new Date(e.updated).toLocaleDateString([],{day:`numeric`,month:`short`}),c=e.title||t.untitled;return j`
    <button class="open" type="button" aria-current=${e.id===n?`true`:F} @click=${()=>r(e)}>
      <span class="title"><bdi>${c}</bdi></span>
    </button>
    <span class="label">${s} · ${t.questions(e.message_count)}</span>
    <button class="icon" type="button" aria-label=${t.rename} title=${t.rename} @click=${()=>i(e)}>${X(`edit`)}</button>
    <button class="icon named" type="button" aria-label=${t.exportMarkdown} title=${t.exportMarkdown} @click=${()=>o(e,`markdown`)}>${X(`save`)}<span>md</span></button>
    <button class="icon named" type="button" aria-label=${t.exportJson} title=${t.exportJson} @click=${()=>o(e,`json`)}>${X(`save`)}<span>json</span></button>
    <button class="icon" type="button" aria-label=${t.remove} title=${t.remove} @click=${()=>a(e)}>${X(`trash`)}</button>
  `}function Kr(e,{texts:t,saveName:n,cancel:r}){return j`<form @submit=${t=>n(e,t)} @keydown=${Jr(r)}>
    <input name="title" maxlength="200" autocomplete="off" aria-label=${t.name} .value=${e.title}
      @focus=${e=>e.target.select()} />
    <button class="chip">${t.save}</button>
    <button class="chip" type="button" @click=${r}>${t.cancel}</button>
  </form>`}function qr(e,{texts:t,removeForGood:n,cancel:r}){let i=t.removeQuestion(e.title||t.untitled);return j`<div class="confirm" role="group" aria-label=${i} @keydown=${Jr(r)}>
    <span dir="auto">${i}</span>
    <button class="chip danger" type="button" @click=${()=>n(e)}>${t.remove}</button>
    <button class="chip" type="button" @click=${r}>${t.cancel}</button>
  </div>`}function Jr(e){return t=>{t.key===`Escape`&&(t.stopPropagation(),e())}}var Yr=`alpha α beta β gamma γ delta δ epsilon ϵ varepsilon ε zeta ζ eta η theta θ iota ι kappa κ lambda λ mu μ nu ν xi ξ pi π rho ρ sigma σ tau τ upsilon υ phi ϕ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Phi Φ Psi Ψ Omega Ω infty ∞ partial ∂ nabla ∇ ell ℓ`,Xr=`cdot ⋅ times × div ÷ pm ± mp ∓ le ≤ leq ≤ ge ≥ geq ≥ ne ≠ neq ≠ approx ≈ equiv ≡ sim ∼ propto ∝ ll ≪ gg ≫ in ∈ notin ∉ subset ⊂ cup ∪ cap ∩ to → rightarrow → leftarrow ← Rightarrow ⇒ mapsto ↦ sum ∑ prod ∏ int ∫ circ ∘ ldots … dots … cdots ⋯ forall ∀ exists ∃ mid | parallel ∥ perp ⊥ langle ⟨ rangle ⟩ lVert ‖ rVert ‖ | ‖ { { } } % %`,Zr=new Set([`,`,`;`,`:`,`!`,` `,`quad`,`qquad`]),Qr=new Set(`sin cos tan cot arcsin arccos arctan sinh cosh tanh log ln exp min max arg det lim sup inf`.split(` `)),$r=ii(`hat ^ dot ˙ ddot ¨ bar ¯ vec → tilde ~ overline ¯`),ei=ii(Yr),ti=ii(Xr),ni=new Set([`mathrm`,`text`,`operatorname`,`textrm`,`mathbf`,`boldsymbol`,`mathit`]),Z=class extends Error{};function ri(e){let t=e.match(/\\(?:[a-zA-Z]+|.)|[0-9]+(?:\.[0-9]+)?|\s+|[^]/gu)??[],n=0;function r(e){let r=[];for(;!e(t[n]);){if(n>=t.length)throw new Z(`unbalanced`);let e=i();e&&r.push(e)}return n+=1,r.length===1&&r[0]?r[0]:[`mrow`,r]}function i(){let e=s(),[r,i]=[void 0,void 0];for(;;)if(t[n]===`_`&&!r)r=(n++,a());else if(t[n]===`^`&&!i)i=(n++,a());else if(t[n]===`'`&&!i)i=(n++,[`mo`,`′`]);else break;if(!r&&!i)return e;let o=e??[`mrow`,[]];return r&&i?[`msubsup`,[o,r,i]]:r?[`msub`,[o,r]]:[`msup`,[o,i??[`mrow`,[]]]]}function a(){for(;/^\s/.test(t[n]??``);)n+=1;return s()??[`mrow`,[]]}function o(){let e=``;if(t[n++]!==`{`)throw new Z(`an argument is missing`);for(;t[n]!==`}`;){if(n>=t.length)throw new Z(`unbalanced`);e+=t[n++]}return n+=1,e.replace(/\\[ ,;:]/g,` `)}function s(){let e=t[n++]??``;if(!/^\s*$/.test(e)){if(e===`{`)return r(e=>e===`}`);if(/^[0-9]/.test(e))return[`mn`,e];if(/^\p{L}$/u.test(e))return[`mi`,e];if(!e.startsWith(`\\`)){if(`}_^&$#`.includes(e))throw new Z(e);return e===`°`?[`mtext`,e]:[`mo`,e===`-`?`−`:e]}return c(e.slice(1))}}function c(e){let t=ei.get(e);if(t)return[`mi`,t];let n=ti.get(e);if(n)return[`mo`,n];if(Zr.has(e))return[`mtext`,` `];if(Qr.has(e))return[`mi`,e];if(ni.has(e))return[`mtext`,o()];let r=$r.get(e);if(r)return[`mover`,[a(),[`mo`,r]]];switch(e){case`frac`:case`dfrac`:case`tfrac`:return[`mfrac`,[a(),a()]];case`sqrt`:return[`msqrt`,[a()]];case`left`:case`right`:{let e=s();return e?.[1]===`.`?void 0:e}case`begin`:return l(o());default:throw new Z(e)}}function l(e){let[i,a]={bmatrix:[`[`,`]`],pmatrix:[`(`,`)`],matrix:[``,``],cases:[`{`,``],aligned:[``,``]}[e]??[];if(i===void 0||a===void 0)throw new Z(e);let s=[],c=[];for(;;){c.push([`mtd`,[r(e=>e===`&`||e===`\\\\`||e===`\\end`)]]);let e=t[n-1];if(e!==`&`&&(s.push([`mtr`,c]),c=[],e===`\\end`))break}o();let l=e=>e?[[`mo`,e]]:[];return[`mrow`,[...l(i),[`mtable`,s],...l(a)]]}return r(e=>e===void 0)}function ii(e){let t=e.split(` `);return new Map(t.flatMap((e,n)=>n%2?[]:[[e,t[n+1]??``]]))}function ai(e,t){try{let n=oi(ri(e));return j`<math display=${t?`block`:F} aria-label=${e}>${n}</math>`}catch(t){if(!(t instanceof Z))throw t;return j`<code class="tex">${e}</code>`}}function oi([e,t]){let n=typeof t==`string`?t:t.map(oi);switch(e){case`mi`:return N`<mi>${n}</mi>`;case`mn`:return N`<mn>${n}</mn>`;case`mo`:return N`<mo>${n}</mo>`;case`mtext`:return N`<mtext>${n}</mtext>`;case`mrow`:return N`<mrow>${n}</mrow>`;case`mfrac`:return N`<mfrac>${n}</mfrac>`;case`msqrt`:return N`<msqrt>${n}</msqrt>`;case`msup`:return N`<msup>${n}</msup>`;case`msub`:return N`<msub>${n}</msub>`;case`msubsup`:return N`<msubsup>${n}</msubsup>`;case`mover`:return N`<mover accent="true">${n}</mover>`;case`mtable`:return N`<mtable>${n}</mtable>`;case`mtr`:return N`<mtr>${n}</mtr>`;case`mtd`:return N`<mtd>${n}</mtd>`}}function si(e,t){return ci(Ut(e),t)}function ci(e,t,n=!1){return e.map(e=>li(e,t,n))}function li(e,t,n){switch(e.type){case`paragraph`:{let r=Q(e.children,t);return n?r:j`<p class=${e.children.every(e=>e.type===`cite`||e.type===`text`&&!e.text.trim())?`cites`:``} dir="auto">${r}</p>`}case`heading`:return j`<p class="heading" dir="auto">${Q(e.children,t)}</p>`;case`code`:return ui(e,t);case`quote`:return j`<blockquote>${ci(e.blocks,t)}</blockquote>`;case`list`:{let n=e.items.map(({checked:n,blocks:r})=>j`<li dir="auto">${n===void 0?F:n?`☑ `:`☐ `}${ci(r,t,e.tight)}</li>`);return e.start===void 0?j`<ul>${n}</ul>`:j`<ol start=${e.start}>${n}</ol>`}case`table`:return fi(e.header,e.rows,t);case`rule`:return j`<hr />`}}function ui({text:e,language:t,marks:n=[]},{texts:r,copy:i}){let a=i?j`<button class="icon" type="button" aria-label=${r.copyCode} title=${r.copyCode}
        @click=${t=>i(e,t)}>${X(`copy`)}</button>`:F;return j`<div class="code" dir="ltr">
    ${i||t?j`<div class="language"><span>${t}</span>${a}</div>`:F}
    <pre tabindex="0"><code>${n.length?di(e,n):e}</code></pre>
  </div>`}function di(e,t){let n=[0,...t.flat(),e.length];return n.slice(1).map((t,r)=>e.slice(n[r],t)).map((e,t)=>t%2?j`<mark>${e}</mark>`:e)}function fi(e,t,n){let r=e=>Q(e,n);return j`<div class="table" tabindex="0">
    <table>
      <thead><tr>${e.map(e=>j`<th scope="col" dir="auto">${r(e)}</th>`)}</tr></thead>
      <tbody>${t.map(e=>j`<tr>${e.map(e=>j`<td dir="auto">${r(e)}</td>`)}</tr>`)}</tbody>
    </table>
  </div>`}function Q(e,t){return e.map(e=>pi(e,t))}function pi(e,t){switch(e.type){case`text`:return e.text;case`code`:return j`<code dir="ltr">${e.text}</code>`;case`strong`:return j`<strong>${Q(e.children,t)}</strong>`;case`em`:return j`<em>${Q(e.children,t)}</em>`;case`del`:return j`<del>${Q(e.children,t)}</del>`;case`mark`:return j`<mark>${Q(e.children,t)}</mark>`;case`break`:return j`<br />`;case`cite`:return t.cite(e.n)??e.raw;case`math`:return ai(e.tex,e.display);case`image`:return j`<span class="image">${t.texts.image(e.alt)}</span>`;case`link`:{let n=Q(e.children,t),r=hn(e.href);return r?j`<a href=${r} target="_blank" rel="noopener noreferrer">${n}</a>`:n}}}function mi(e,t,n){return j`<div class="toolbar" role="toolbar" aria-label=${e.toolbar} @keydown=${e=>hi(e,n)}
    @pointerdown=${e=>e.preventDefault()} @mousedown=${e=>e.preventDefault()}>
    ${[`ask`,`explain`,`simplify`].map((n,r)=>j`<button type="button" tabindex=${r?-1:0} @click=${()=>t(n)}>${e[n]}</button>`)}
  </div>`}function hi(e,t){let n=[...e.currentTarget.querySelectorAll(`button`)],r=n.indexOf(e.target),i={ArrowRight:1,ArrowDown:1,ArrowLeft:-1,ArrowUp:-1}[e.key];if(e.key===`Escape`)t();else if(i)n.at((r+i)%n.length)?.focus();else return;e.preventDefault(),e.stopPropagation()}function gi(e,t,n,r){return j`<div id="preview" class="preview" role="tooltip" ?hidden=${!e} @pointerenter=${r.enter} @pointerleave=${r.leave}>
    ${e?j`<blockquote dir="auto">${si(e.quote,{texts:t,cite:()=>void 0})}</blockquote>
          <p class="label" dir="auto">${_i(e,t)}</p>
          ${n?j`<a class="chip" href=${n.href} .citation=${e} @click=${n.follow}>${t.openSource}</a>`:F}`:F}
  </div>`}function _i(e,t){let n=e.page===null?``:t.page(e.page);return[e.chapter,e.section_title,n].filter(Boolean).join(` · `)}function vi(e,t){let{excerpts:n}=e;if(!n.length)return F;let{texts:r}=t;return j`<section class="from-book" aria-label=${r.fromBook}>
    <p class="label">${r.fromBook}</p>
    ${n.map((r,i)=>yi(r,e,t,n[i-1]?.url===r.url))}
  </section>`}function yi(e,t,{texts:n,hrefOf:r,copy:i},a){let o=Qe(t,e.n),s=Ci(e,o?.chapter)||n.selection,c=o&&e.url?j`<a class="place" dir="auto" href=${r(o)} .citation=${o}>${s}</a>`:j`<span class="place" dir="auto">${s}</span>`,l=xi(e);return j`<figure>
    ${a?F:j`<figcaption>${c}</figcaption>`}
    <blockquote dir="auto">${ci(l,{texts:n,copy:i,cite:()=>void 0})}</blockquote>
  </figure>`}var bi=new WeakMap;function xi(e){let t=bi.get(e)??Si(on(e.text,e.marks),e);return bi.set(e,t),t}function Si(e,{cut_before:t,cut_after:n}){let r=[...e],i=e=>({type:`paragraph`,children:[{type:`text`,text:e}]});if(n){let e=r.at(-1);e?.type===`paragraph`?r.splice(-1,1,{...e,children:[...e.children,{type:`text`,text:` …`}]}):r.push(i(`…`))}if(t){let e=r[0];e?.type===`paragraph`?r.splice(0,1,{...e,children:[{type:`text`,text:`… `},...e.children]}):r.unshift(i(`…`))}return r}function Ci({heading_path:e},t=``){let n=e.at(-1)??``;return[...new Set([t||(e[0]??``),n])].filter(Boolean).join(` › `)}function wi(e,t,n){return j`${e.question?Ti(e,n):F}${Ei(e,t,n)}`}function Ti({question:e,selectedText:t,asked:n},{texts:r}){return j`<article class="message user" aria-label=${r.you}>
    ${t?j`<blockquote class="selected" dir="auto">${t}</blockquote>`:F}
    <div class="text" dir="auto">${e}</div>
    ${Ni(n)}
  </article>`}function Ei(e,t,n){let{texts:r}=n,i=Ze(e),a={texts:r,copy:n.copy,cite:t=>{let r=Qe(e,t);return r&&Di(r,n)}},o=e.state===`waiting`||e.state===`streaming`;return j`<article class="message book" aria-label=${r.book} aria-busy=${o}>
    ${i?j`<div class="text">${si(i,a)}</div>`:F}
    ${o?Oi(e,r):F}
    ${vi(e,n)}
    ${e.warnings.map(e=>j`<p class="warning" dir="auto">${e}</p>`)}
    ${e.state===`failed`?j`<p class="error" role="alert">${e.error||r.wrong}</p>`:F}
    ${e.state===`stopped`?j`<p class="label">${r.stopped}</p>`:F}
    ${e.refusal===`not_in_selection`?j`<button class="chip" type="button" ?disabled=${!n.ready} @click=${()=>n.searchBook(e)}>${r.searchBook}</button>`:F}
    ${ki(e,n)}
    ${o?F:Ai(e,t,i,n)}
  </article>`}function Di(e,{texts:t,hrefOf:n}){return j`<a class="cite" href=${n(e)} .citation=${e} aria-describedby="preview"
    aria-label=${t.source(e.n,e.section_title)}>${e.n}</a>`}function Oi({queue:e,resuming:t,state:n},r){return j`<p class="progress"><span class="dots" aria-hidden="true"><i></i><i></i><i></i></span>${t?r.resuming:e?r.queued(e.position,e.eta_s):n===`streaming`?r.writing:r.searching}</p>`}function ki({kind:e,suggestions:t},{texts:n,ready:r,ask:i}){if(!t.length)return F;let a=e===`refusal`;return j`<div class="suggestions"><span class="label">${a?n.covered:n.askNext}</span>${t.map(e=>j`<button class="chip" type="button" dir="auto" ?disabled=${!r} @click=${()=>i(a?n.askAbout(e):e)}>${e}</button>`)}</div>`}function Ai(e,t,n,r){let{texts:i,ready:a,retry:o,copy:s,judge:c,commenting:l}=r,u=t&&e.question&&(e.state!==`done`||e.kind===`extractive`),d=e.state===`done`&&e.messageId;return j`<footer>
      ${Ni(e.answered)}
      <span class="actions">
        ${u?ji(`retry`,i.retry,()=>o(e),{disabled:!a,word:e.state!==`done`}):F}
        ${n||e.excerpts.length?ji(`copy`,i.copy,t=>s(Mi(e,n,r),t)):F}
        ${d?ji(`up`,i.good,()=>c(e,`up`),{pressed:e.verdict===`up`}):F}
        ${d?ji(`down`,i.bad,()=>c(e,`down`),{pressed:e.verdict===`down`}):F}
      </span>
    </footer>
    ${l===e?j`<form class="comment" @submit=${t=>r.comment(e,t)}>
          <input name="comment" maxlength="2000" autocomplete="off" aria-label=${i.whatWasWrong} placeholder=${i.whatWasWrong} />
          <button class="chip">${i.sendComment}</button>
        </form>`:F}`}function ji(e,t,n,r={}){return j`<button class=${r.word?`chip`:`icon`} type="button" title=${t} aria-label=${t}
    aria-pressed=${r.pressed??F} ?disabled=${r.disabled??!1} @click=${n}>${X(e)}${r.word?j`<span>${t}</span>`:F}</button>`}function Mi(e,t,{hrefOf:n}){let r=e.text||[t,...e.excerpts.map(e=>`${e.text} [${e.n}]`)].filter(Boolean).join(`

`),i=e.sources.filter(({n:e})=>r.includes(`[${e}]`)).map(e=>`[${e.n}] ${[e.chapter,e.section_title].filter(Boolean).join(`, `)} (${n(e)})`);return i.length?`${r}\n\n${i.join(`
`)}`:r}function Ni(e){if(!e||Number.isNaN(e.getTime()))return F;let t=e.toDateString()===new Date().toDateString()?e.toLocaleTimeString([],{hour:`2-digit`,minute:`2-digit`}):e.toLocaleString([],{day:`numeric`,month:`short`,hour:`2-digit`,minute:`2-digit`});return j`<time datetime=${e.toISOString()}>${t}</time>`}function Pi(e){let{words:t,open:n,selecting:r,preview:i}=e,a=i.citation&&i.tapped?{href:e.hrefOf(i.citation),follow:t=>Vi(e,t)}:void 0;return j`
    ${n?Fi(e):j`<button class="bubble" type="button" part="bubble" aria-label=${t.open} title=${t.open} aria-haspopup="dialog"
          @click=${()=>void e.show()}>${X(`book`)}</button>
        ${e.invitation.shown?j`<span class="invitation" aria-hidden="true" @click=${()=>void e.show()}>${t.open}</span>`:F}`}
    ${r.text?mi(t,t=>e.act(t),()=>r.hide()):F}
    ${gi(i.citation,t,a,{enter:()=>i.keep(),leave:()=>i.leave()})}
    <div class="status" role="status">${e.status}</div>
  `}function Fi(e){let{words:t,view:n,conversation:r,identity:i,list:a}=e;return j`<section class="panel" part="panel" role="dialog" aria-label=${t.title} aria-modal=${e.narrowOpen?`true`:F}
    tabindex="-1" @keydown=${t=>Gi(e,t)}
    @pointerdown=${t=>qi(e,t)}>
    <div class="head">
      ${n===`list`?Ri(`back`,t.back,()=>e.showChat()):Ri(`list`,t.conversations,()=>e.showList())}
      <h2>${n===`list`?t.conversations:t.title}</h2>
      ${Ri(`plus`,t.newConversation,()=>e.startNew())}
      ${Ri(`close`,t.close,()=>void e.close())}
    </div>
    ${n===`list`?j`<div class="messages">${Ur({texts:t,sessions:a.sessions,failed:a.failed,current:i.session,renaming:a.renaming,removing:a.removing,open:t=>e.openSession(t),rename:t=>{a.startRenaming(t),$(e,`input[name=title]`)},saveName:(t,n)=>{n.preventDefault();let r=new FormData(n.target).get(`title`);e.server&&a.rename(e.server,t,String(r??``)),$(e,`.conversations .open`)},remove:t=>{a.startRemoving(t),$(e,`.confirm .danger`)},removeForGood:t=>void e.removeSession(t),cancel:()=>{a.cancel(),$(e,`.conversations .open`)},save:(t,n)=>e.server&&void a.save(e.server,t,n)})}</div>`:j`${Ii(e)}
          ${Vr({texts:t,draft:e.draft,selection:e.selection,selectionOnly:e.selectionOnly,phase:r.phase,wait_s:r.wait_s,type:t=>Ui(e,t),key:t=>Wi(e,t),submit:t=>{t.preventDefault(),e.submit()},stop:()=>r.stop(),removeSelection:()=>{e.selection=``,e.focusInput()},toggleSelectionOnly:()=>{e.selectionOnly=!e.selectionOnly}})}`}
  </section>`}function Ii(e){let{words:t,conversation:n}=e,{turns:r,phase:i}=n,a={texts:t,ready:n.ready,commenting:e.commenting,hrefOf:t=>e.hrefOf(t),retry:t=>e.retry(t),searchBook:t=>e.searchBook(t),ask:t=>void e.ask({text:t}),copy:(t,n)=>e.copy(t,n),judge:(t,n)=>e.judge(t,n),comment:(t,n)=>e.comment(t,n)},o=t=>{let n=Bi(t);n&&t.pointerType!==`touch`&&e.preview.hover(n.citation,n.link)},s=t=>{let n=Bi(t);n&&!e.touched&&e.preview.focus(n.citation,n.link)},c=t=>void(Bi(t)&&e.preview.leave());return j`<div class="messages" role="region" tabindex="0" aria-label=${t.messages}
      @pointerover=${o} @pointerout=${c} @focusin=${s} @focusout=${c}
      @click=${t=>Vi(e,t)} @scroll=${t=>Hi(e,t)}>
      ${i===`restoring`?j`<p class="progress"><span class="dots" aria-hidden="true"><i></i><i></i><i></i></span>${t.restoring}</p>`:F}
      ${n.restoreFailed||!e.server&&!r.length?Li(e):F}
      ${i===`idle`&&!r.length&&e.server&&!n.restoreFailed?j`<div class="greeting"><p class="question">${t.greeting}</p><p>${t.hint}</p></div>`:F}
      ${r.map((e,t)=>wi(e,t===r.length-1,a))}
    </div>
    ${e.scrolling.below?j`<div class="below"><button class="round" type="button" aria-label=${t.toLatest} title=${t.toLatest}
          @click=${()=>e.scrolling.toEnd(e.messages)}>${X(`arrow`)}</button></div>`:F}`}function Li(e){let{words:t,server:n}=e;return j`<article class="message book"><p class="error" role="alert">${t.wrong}</p>
    ${n?j`<button class="chip" type="button" @click=${()=>e.restoreAgain()}>${X(`retry`)}<span>${t.retry}</span></button>`:F}
  </article>`}function Ri(e,t,n){return j`<button class="icon" type="button" aria-label=${t} title=${t} @click=${n}>${X(e)}</button>`}function zi(e){let t=e.composedPath().find(e=>e instanceof HTMLAnchorElement);return t?.citation&&{link:t,citation:t.citation}}function Bi(e){let t=zi(e);return t?.link.matches(`.place`)?void 0:t}function Vi(e,t){let n=zi(t);n&&e.follow(t,n.link,n.citation)}function Hi(e,t){let n=t.currentTarget;e.preview.scrolled(n),e.scrolling.scrolled(n)&&e.requestUpdate()}function Ui(e,t){e.draft=t.target.value}function Wi(e,t){t.key!==`Enter`||t.shiftKey||t.isComposing||(t.preventDefault(),e.submit())}function Gi(e,t){e.touched=!1,t.key===`Escape`?(t.stopPropagation(),e.preview.citation?e.preview.hide():e.view===`list`?e.showChat():e.close()):t.key===`Tab`&&e.narrowOpen&&Ki(e,t)}function Ki(e,t){let n=[...e.panel?.querySelectorAll(`a[href], button, textarea, input, [tabindex="0"]`)??[]].filter(e=>!e.matches(`:disabled`)),r=t.shiftKey?n[0]:n[n.length-1],i=t.shiftKey?n[n.length-1]:n[0];t.composedPath()[0]===r&&(t.preventDefault(),i?.focus())}function qi(e,t){e.touched=t.pointerType===`touch`,!zi(t)&&!t.target.closest(`.preview`)&&e.preview.hide()}function $(e,t){e.updateComplete.then(()=>e.renderRoot.querySelector(t)?.focus())}var Ji=`lutrin:draft`,Yi=`lutrin:open`,Xi=`(max-width: 480px)`,Zi=800,Qi=class extends R{static styles=Rr;static properties={api:{},book:{},page:{},theme:{},open:{type:Boolean,reflect:!0},texts:{attribute:!1},resolveLink:{attribute:!1},navigate:{attribute:!1},view:{state:!0},draft:{state:!0},selection:{state:!0},selectionOnly:{state:!0},commenting:{state:!0},status:{state:!0}};conversation=new Je(()=>this.requestUpdate());list=new Mr(()=>this.requestUpdate());scrolling=new Or;preview=new Tr(this,()=>this.renderRoot.querySelector(`.preview:not([hidden])`));selecting=new jr(this,()=>this.renderRoot.querySelector(`.toolbar`),()=>!this.narrowOpen);identity;invitation;server;touched=!1;#e=tt(()=>sessionStorage);#t;#n=Promise.resolve();#r;#i;#a;constructor(){super();let e=tt(()=>localStorage);this.identity=new nt(e),this.#t=new Nn(e),this.invitation=new st(this,e),this.api=this.book=this.page=this.theme=null,this.view=`chat`,this.selection=this.status=``,this.selectionOnly=!0,this.open=this.#e.getItem(Yi)===`yes`,this.draft=this.#e.getItem(Ji)??``,this.texts={},new Un(this,{ask:e=>void this.#o(e),offer:(e,t)=>this.selecting.offer(e,t),lead:(e,t,n)=>this.#s(e,t,n)})}get words(){return{...zr,...this.texts}}get narrowOpen(){return this.open&&matchMedia(Xi).matches}connectedCallback(){super.connectedCallback();let{signal:e}=this.#i=new AbortController;for(let t of[`hashchange`,`popstate`])addEventListener(t,()=>this.arrived(),{signal:e});let t=window.visualViewport;t?.addEventListener(`resize`,()=>this.style.setProperty(`--_screen`,`${t.height}px`),{signal:e}),this.#a=new MutationObserver(()=>this.#d()),this.#a.observe(document.documentElement,{attributes:!0,attributeFilter:[`data-theme`]}),this.#d(),this.arrived()}disconnectedCallback(){super.disconnectedCallback(),this.conversation.stop(),this.#i?.abort(),this.#a?.disconnect(),document.documentElement.removeAttribute(`data-lutrin-open`),clearInterval(this.#r),this.#r=void 0}willUpdate(e){e.has(`api`)&&this.#c(),e.has(`theme`)&&this.#d(),e.has(`open`)&&this.#e.setItem(Yi,this.open?`yes`:``),this.#e.setItem(Ji,this.draft),this.conversation.wait_s>0?this.#r??=setInterval(()=>this.requestUpdate(),250):this.#r=void clearInterval(this.#r)}render(){return Pi(this)}updated(e){e.has(`open`)&&document.documentElement.toggleAttribute(`data-lutrin-open`,this.open),this.scrolling.drawn(this.messages)}get messages(){return this.renderRoot.querySelector(`.messages[role="region"]`)}async show(){let e=this.open;this.open=!0,this.invitation.accept(),this.scrolling.follow(),await this.updateComplete,e||this.dispatchEvent(new CustomEvent(`lutrin:open`,{bubbles:!0,composed:!0})),this.focusInput()}async close(){this.open=!1,this.view=`chat`,this.preview.hide(),await this.updateComplete,this.renderRoot.querySelector(`.bubble`)?.focus({preventScroll:!0})}arrived(){this.#t.arrived()}focusInput(){let e=this.renderRoot.querySelector(`textarea`);(e&&!e.disabled&&!matchMedia(`(pointer: coarse)`).matches?e:this.panel)?.focus({preventScroll:!0})}get panel(){return this.renderRoot.querySelector(`.panel`)}hrefOf(e){return this.resolveLink?.(e)??Mn(e,this.server?.base??new URL(location.href),location.href).href}submit(){let e=this.selection?{selectedText:this.selection,mode:this.selectionOnly?`selection`:`selection_boosted`}:{};this.ask({text:this.draft,...e})}async ask(e){if(!e.text.trim()||!this.conversation.ready)return;let t=this.renderRoot.querySelector(`:focus`)!==null;this.view=`chat`,this.draft=``,this.scrolling.follow(),this.server||this.#u();let n=this.conversation.ask(this.server,this.identity.session,{...e,...this.book&&{book:this.book},...this.page&&{page:this.page}});this.status=this.words.searching,await this.updateComplete,t&&this.renderRoot.querySelector(`.stop`)?.focus({preventScroll:!0});let r=await n;if(!r)return;if(r.state===`failed`&&!this.draft&&(this.draft=r.question),r.state===`done`){this.status=mn(r.text).slice(0,Zi);let{question:e,text:t,excerpts:n,sources:i,kind:a,refusal:o}=r,s={question:e,answer:t,excerpts:n,sources:i,kind:a,refusal:o};this.dispatchEvent(new CustomEvent(`lutrin:answer`,{bubbles:!0,composed:!0,detail:s}))}await this.updateComplete;let i=this.shadowRoot?.activeElement===null||this.shadowRoot?.activeElement===this.panel;t&&i&&(document.activeElement===this||document.activeElement===document.body)&&this.focusInput()}retry(e){this.conversation.turns=this.conversation.turns.filter(t=>t!==e||e.state===`done`),this.draft===e.question&&(this.draft=``),this.ask({text:e.question,selectedText:e.selectedText,...e.mode&&{mode:e.mode}})}searchBook(e){this.selection=``,this.ask({text:e.question,mode:`book`})}act(e){let t=this.selecting.text;if(this.selecting.hide(),e===`ask`)return void this.#o({selectedText:t});let n=e===`explain`?this.words.explainQuestion:this.words.simplifyQuestion;this.#o({selectedText:t,question:n},`selection_boosted`)}async#o({question:e=``,selectedText:t=``},n=`selection`){this.view=`chat`,t&&!e&&(this.selection=t,this.selectionOnly=!0),await this.show(),await this.#n,e&&(this.conversation.ready?this.ask({text:e,...t&&{selectedText:t,mode:n}}):(this.draft=e,t&&(this.selection=t)))}copy(e,t){let n=t.currentTarget;Ke(e).then(e=>{e&&(this.status=this.words.copied,n.classList.add(`copied`),setTimeout(()=>n.classList.remove(`copied`),1500))})}judge(e,t){this.server&&(this.commenting=t===`down`?e:void 0,this.conversation.judge(this.server,e,t))}comment(e,t){t.preventDefault();let n=String(new FormData(t.target).get(`comment`)??``).trim();this.commenting=void 0,this.status=this.words.thanks,n&&this.server&&this.conversation.judge(this.server,e,`down`,n)}follow(e,t,n){if(this.touched&&!t.closest(`.preview, .place`)&&this.preview.tap(n,t))return e.preventDefault();this.preview.hide(),this.#s(e,new URL(t.href),n.quote)}#s(e,t,n){if(t.origin!==location.origin||(this.#t.expect(t,n),e.button||e.ctrlKey||e.metaKey||e.shiftKey||e.altKey))return;this.narrowOpen&&(this.open=!1);let r=Pn(t,location);r&&(t.hash||!location.hash)?t.hash||e.preventDefault():this.navigate?(e.preventDefault(),this.navigate(t)):r&&(e.preventDefault(),history.pushState(null,``,t)),r&&setTimeout(()=>this.arrived())}showList(){this.view=`list`,this.list.load(this.server)}showChat(){this.view=`chat`,this.scrolling.follow(),this.updateComplete.then(()=>this.focusInput())}startNew(){this.identity.startNew(),this.conversation.clear(),this.selection=``,this.showChat()}openSession(e){this.identity.session=e.id,this.selection=``,this.#l(),this.showChat()}async removeSession(e){this.server&&await this.list.remove(this.server,e)&&(e.id===this.identity.session&&(this.identity.startNew(),this.conversation.clear()),this.renderRoot.querySelector(`.conversations .open, .panel`)?.focus())}restoreAgain(){this.#l()}#c(){let e=We(this.api,document.baseURI);this.server=e&&new Ue(e,this.identity.secret),this.server?this.identity.known&&this.#l():this.#u()}#l(){this.server&&(this.scrolling.follow(),this.#n=this.conversation.restore(this.server,this.identity.session))}#u(){console.error("lutrin-chat: no server is named. Set the attribute `api`, the option of the Docusaurus plugin, or REACT_APP_API_URL.")}#d(){let e=this.theme??document.documentElement.dataset.theme??``;e===`dark`||e===`light`?this.setAttribute(`scheme`,e):this.removeAttribute(`scheme`)}};customElements.get(`lutrin-chat`)||customElements.define(`lutrin-chat`,Qi)})();