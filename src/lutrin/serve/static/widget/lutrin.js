(function(){var e=globalThis,t=e.ShadowRoot&&(e.ShadyCSS===void 0||e.ShadyCSS.nativeShadow)&&`adoptedStyleSheets`in Document.prototype&&`replace`in CSSStyleSheet.prototype,n=Symbol(),r=new WeakMap,i=class{constructor(e,t,r){if(this._$cssResult$=!0,r!==n)throw Error("CSSResult is not constructable. Use `unsafeCSS` or `css` instead.");this.cssText=e,this.t=t}get styleSheet(){let e=this.o,n=this.t;if(t&&e===void 0){let t=n!==void 0&&n.length===1;t&&(e=r.get(n)),e===void 0&&((this.o=e=new CSSStyleSheet).replaceSync(this.cssText),t&&r.set(n,e))}return e}toString(){return this.cssText}},a=e=>new i(typeof e==`string`?e:e+``,void 0,n),o=(e,...t)=>new i(e.length===1?e[0]:t.reduce((t,n,r)=>t+(e=>{if(!0===e._$cssResult$)return e.cssText;if(typeof e==`number`)return e;throw Error(`Value passed to 'css' function must be a 'css' function result: `+e+`. Use 'unsafeCSS' to pass non-literal values, but take care to ensure page security.`)})(n)+e[r+1],e[0]),e,n),s=(n,r)=>{if(t)n.adoptedStyleSheets=r.map(e=>e instanceof CSSStyleSheet?e:e.styleSheet);else for(let t of r){let r=document.createElement(`style`),i=e.litNonce;i!==void 0&&r.setAttribute(`nonce`,i),r.textContent=t.cssText,n.appendChild(r)}},c=t?e=>e:e=>e instanceof CSSStyleSheet?(e=>{let t=``;for(let n of e.cssRules)t+=n.cssText;return a(t)})(e):e,{is:l,defineProperty:u,getOwnPropertyDescriptor:d,getOwnPropertyNames:f,getOwnPropertySymbols:p,getPrototypeOf:m}=Object,h=globalThis,g=h.trustedTypes,_=g?g.emptyScript:``,v=h.reactiveElementPolyfillSupport,y=(e,t)=>e,b={toAttribute(e,t){switch(t){case Boolean:e=e?_:null;break;case Object:case Array:e=e==null?e:JSON.stringify(e)}return e},fromAttribute(e,t){let n=e;switch(t){case Boolean:n=e!==null;break;case Number:n=e===null?null:Number(e);break;case Object:case Array:try{n=JSON.parse(e)}catch{n=null}}return n}},x=(e,t)=>!l(e,t),ee={attribute:!0,type:String,converter:b,reflect:!1,useDefault:!1,hasChanged:x};Symbol.metadata??=Symbol(`metadata`),h.litPropertyMetadata??=new WeakMap;var S=class extends HTMLElement{static addInitializer(e){this._$Ei(),(this.l??=[]).push(e)}static get observedAttributes(){return this.finalize(),this._$Eh&&[...this._$Eh.keys()]}static createProperty(e,t=ee){if(t.state&&(t.attribute=!1),this._$Ei(),this.prototype.hasOwnProperty(e)&&((t=Object.create(t)).wrapped=!0),this.elementProperties.set(e,t),!t.noAccessor){let n=Symbol(),r=this.getPropertyDescriptor(e,n,t);r!==void 0&&u(this.prototype,e,r)}}static getPropertyDescriptor(e,t,n){let{get:r,set:i}=d(this.prototype,e)??{get(){return this[t]},set(e){this[t]=e}};return{get:r,set(t){let a=r?.call(this);i?.call(this,t),this.requestUpdate(e,a,n)},configurable:!0,enumerable:!0}}static getPropertyOptions(e){return this.elementProperties.get(e)??ee}static _$Ei(){if(this.hasOwnProperty(y(`elementProperties`)))return;let e=m(this);e.finalize(),e.l!==void 0&&(this.l=[...e.l]),this.elementProperties=new Map(e.elementProperties)}static finalize(){if(this.hasOwnProperty(y(`finalized`)))return;if(this.finalized=!0,this._$Ei(),this.hasOwnProperty(y(`properties`))){let e=this.properties,t=[...f(e),...p(e)];for(let n of t)this.createProperty(n,e[n])}let e=this[Symbol.metadata];if(e!==null){let t=litPropertyMetadata.get(e);if(t!==void 0)for(let[e,n]of t)this.elementProperties.set(e,n)}this._$Eh=new Map;for(let[e,t]of this.elementProperties){let n=this._$Eu(e,t);n!==void 0&&this._$Eh.set(n,e)}this.elementStyles=this.finalizeStyles(this.styles)}static finalizeStyles(e){let t=[];if(Array.isArray(e)){let n=new Set(e.flat(1/0).reverse());for(let e of n)t.unshift(c(e))}else e!==void 0&&t.push(c(e));return t}static _$Eu(e,t){let n=t.attribute;return!1===n?void 0:typeof n==`string`?n:typeof e==`string`?e.toLowerCase():void 0}constructor(){super(),this._$Ep=void 0,this.isUpdatePending=!1,this.hasUpdated=!1,this._$Em=null,this._$Ev()}_$Ev(){this._$ES=new Promise(e=>this.enableUpdating=e),this._$AL=new Map,this._$E_(),this.requestUpdate(),this.constructor.l?.forEach(e=>e(this))}addController(e){(this._$EO??=new Set).add(e),this.renderRoot!==void 0&&this.isConnected&&e.hostConnected?.()}removeController(e){this._$EO?.delete(e)}_$E_(){let e=new Map,t=this.constructor.elementProperties;for(let n of t.keys())this.hasOwnProperty(n)&&(e.set(n,this[n]),delete this[n]);e.size>0&&(this._$Ep=e)}createRenderRoot(){let e=this.shadowRoot??this.attachShadow(this.constructor.shadowRootOptions);return s(e,this.constructor.elementStyles),e}connectedCallback(){this.renderRoot??=this.createRenderRoot(),this.enableUpdating(!0),this._$EO?.forEach(e=>e.hostConnected?.())}enableUpdating(e){}disconnectedCallback(){this._$EO?.forEach(e=>e.hostDisconnected?.())}attributeChangedCallback(e,t,n){this._$AK(e,n)}_$ET(e,t){let n=this.constructor.elementProperties.get(e),r=this.constructor._$Eu(e,n);if(r!==void 0&&!0===n.reflect){let i=(n.converter?.toAttribute===void 0?b:n.converter).toAttribute(t,n.type);this._$Em=e,i==null?this.removeAttribute(r):this.setAttribute(r,i),this._$Em=null}}_$AK(e,t){let n=this.constructor,r=n._$Eh.get(e);if(r!==void 0&&this._$Em!==r){let e=n.getPropertyOptions(r),i=typeof e.converter==`function`?{fromAttribute:e.converter}:e.converter?.fromAttribute===void 0?b:e.converter;this._$Em=r;let a=i.fromAttribute(t,e.type);this[r]=a??this._$Ej?.get(r)??a,this._$Em=null}}requestUpdate(e,t,n,r=!1,i){if(e!==void 0){let a=this.constructor;if(!1===r&&(i=this[e]),n??=a.getPropertyOptions(e),!((n.hasChanged??x)(i,t)||n.useDefault&&n.reflect&&i===this._$Ej?.get(e)&&!this.hasAttribute(a._$Eu(e,n))))return;this.C(e,t,n)}!1===this.isUpdatePending&&(this._$ES=this._$EP())}C(e,t,{useDefault:n,reflect:r,wrapped:i},a){n&&!(this._$Ej??=new Map).has(e)&&(this._$Ej.set(e,a??t??this[e]),!0!==i||a!==void 0)||(this._$AL.has(e)||(this.hasUpdated||n||(t=void 0),this._$AL.set(e,t)),!0===r&&this._$Em!==e&&(this._$Eq??=new Set).add(e))}async _$EP(){this.isUpdatePending=!0;try{await this._$ES}catch(e){Promise.reject(e)}let e=this.scheduleUpdate();return e!=null&&await e,!this.isUpdatePending}scheduleUpdate(){return this.performUpdate()}performUpdate(){if(!this.isUpdatePending)return;if(!this.hasUpdated){if(this.renderRoot??=this.createRenderRoot(),this._$Ep){for(let[e,t]of this._$Ep)this[e]=t;this._$Ep=void 0}let e=this.constructor.elementProperties;if(e.size>0)for(let[t,n]of e){let{wrapped:e}=n,r=this[t];!0!==e||this._$AL.has(t)||r===void 0||this.C(t,void 0,n,r)}}let e=!1,t=this._$AL;try{e=this.shouldUpdate(t),e?(this.willUpdate(t),this._$EO?.forEach(e=>e.hostUpdate?.()),this.update(t)):this._$EM()}catch(t){throw e=!1,this._$EM(),t}e&&this._$AE(t)}willUpdate(e){}_$AE(e){this._$EO?.forEach(e=>e.hostUpdated?.()),this.hasUpdated||(this.hasUpdated=!0,this.firstUpdated(e)),this.updated(e)}_$EM(){this._$AL=new Map,this.isUpdatePending=!1}get updateComplete(){return this.getUpdateComplete()}getUpdateComplete(){return this._$ES}shouldUpdate(e){return!0}update(e){this._$Eq&&=this._$Eq.forEach(e=>this._$ET(e,this[e])),this._$EM()}updated(e){}firstUpdated(e){}};S.elementStyles=[],S.shadowRootOptions={mode:`open`},S[y(`elementProperties`)]=new Map,S[y(`finalized`)]=new Map,v?.({ReactiveElement:S}),(h.reactiveElementVersions??=[]).push(`2.1.2`);var C=globalThis,w=e=>e,T=C.trustedTypes,te=T?T.createPolicy(`lit-html`,{createHTML:e=>e}):void 0,ne=`$lit$`,E=`lit$${Math.random().toFixed(9).slice(2)}$`,re=`?`+E,ie=`<${re}>`,D=document,O=()=>D.createComment(``),k=e=>e===null||typeof e!=`object`&&typeof e!=`function`,ae=Array.isArray,oe=e=>ae(e)||typeof e?.[Symbol.iterator]==`function`,se=`[ 	
\f\r]`,A=/<(?:(!--|\/[^a-zA-Z])|(\/?[a-zA-Z][^>\s]*)|(\/?$))/g,ce=/-->/g,le=/>/g,j=RegExp(`>|${se}(?:([^\\s"'>=/]+)(${se}*=${se}*(?:[^ \t\n\f\r"'\`<>=]|("|')|))|$)`,`g`),ue=/'/g,de=/"/g,fe=/^(?:script|style|textarea|title)$/i,pe=e=>(t,...n)=>({_$litType$:e,strings:t,values:n}),M=pe(1),N=pe(2),P=pe(3),F=Symbol.for(`lit-noChange`),I=Symbol.for(`lit-nothing`),me=new WeakMap,L=D.createTreeWalker(D,129);function he(e,t){if(!ae(e)||!e.hasOwnProperty(`raw`))throw Error(`invalid template strings array`);return te===void 0?t:te.createHTML(t)}var ge=(e,t)=>{let n=e.length-1,r=[],i,a=t===2?`<svg>`:t===3?`<math>`:``,o=A;for(let t=0;t<n;t++){let n=e[t],s,c,l=-1,u=0;for(;u<n.length&&(o.lastIndex=u,c=o.exec(n),c!==null);)u=o.lastIndex,o===A?c[1]===`!--`?o=ce:c[1]===void 0?c[2]===void 0?c[3]!==void 0&&(o=j):(fe.test(c[2])&&(i=RegExp(`</`+c[2],`g`)),o=j):o=le:o===j?c[0]===`>`?(o=i??A,l=-1):c[1]===void 0?l=-2:(l=o.lastIndex-c[2].length,s=c[1],o=c[3]===void 0?j:c[3]===`"`?de:ue):o===de||o===ue?o=j:o===ce||o===le?o=A:(o=j,i=void 0);let d=o===j&&e[t+1].startsWith(`/>`)?` `:``;a+=o===A?n+ie:l>=0?(r.push(s),n.slice(0,l)+ne+n.slice(l)+E+d):n+E+(l===-2?t:d)}return[he(e,a+(e[n]||`<?>`)+(t===2?`</svg>`:t===3?`</math>`:``)),r]},_e=class e{constructor({strings:t,_$litType$:n},r){let i;this.parts=[];let a=0,o=0,s=t.length-1,c=this.parts,[l,u]=ge(t,n);if(this.el=e.createElement(l,r),L.currentNode=this.el.content,n===2||n===3){let e=this.el.content.firstChild;e.replaceWith(...e.childNodes)}for(;(i=L.nextNode())!==null&&c.length<s;){if(i.nodeType===1){if(i.hasAttributes())for(let e of i.getAttributeNames())if(e.endsWith(ne)){let t=u[o++],n=i.getAttribute(e).split(E),r=/([.?@])?(.*)/.exec(t);c.push({type:1,index:a,name:r[2],strings:n,ctor:r[1]===`.`?xe:r[1]===`?`?Se:r[1]===`@`?Ce:be}),i.removeAttribute(e)}else e.startsWith(E)&&(c.push({type:6,index:a}),i.removeAttribute(e));if(fe.test(i.tagName)){let e=i.textContent.split(E),t=e.length-1;if(t>0){i.textContent=T?T.emptyScript:``;for(let n=0;n<t;n++)i.append(e[n],O()),L.nextNode(),c.push({type:2,index:++a});i.append(e[t],O())}}}else if(i.nodeType===8){if(i.data===re)c.push({type:2,index:a});else{let e=-1;for(;(e=i.data.indexOf(E,e+1))!==-1;)c.push({type:7,index:a}),e+=E.length-1}}a++}}static createElement(e,t){let n=D.createElement(`template`);return n.innerHTML=e,n}};function R(e,t,n=e,r){if(t===F)return t;let i=r===void 0?n._$Cl:n._$Co?.[r],a=k(t)?void 0:t._$litDirective$;return i?.constructor!==a&&(i?._$AO?.(!1),a===void 0?i=void 0:(i=new a(e),i._$AT(e,n,r)),r===void 0?n._$Cl=i:(n._$Co??=[])[r]=i),i!==void 0&&(t=R(e,i._$AS(e,t.values),i,r)),t}var ve=class{constructor(e,t){this._$AV=[],this._$AN=void 0,this._$AD=e,this._$AM=t}get parentNode(){return this._$AM.parentNode}get _$AU(){return this._$AM._$AU}u(e){let{el:{content:t},parts:n}=this._$AD,r=(e?.creationScope??D).importNode(t,!0);L.currentNode=r;let i=L.nextNode(),a=0,o=0,s=n[0];for(;s!==void 0;){if(a===s.index){let t;s.type===2?t=new ye(i,i.nextSibling,this,e):s.type===1?t=new s.ctor(i,s.name,s.strings,this,e):s.type===6&&(t=new we(i,this,e)),this._$AV.push(t),s=n[++o]}a!==s?.index&&(i=L.nextNode(),a++)}return L.currentNode=D,r}p(e){let t=0;for(let n of this._$AV)n!==void 0&&(n.strings===void 0?n._$AI(e[t]):(n._$AI(e,n,t),t+=n.strings.length-2)),t++}},ye=class e{get _$AU(){return this._$AM?._$AU??this._$Cv}constructor(e,t,n,r){this.type=2,this._$AH=I,this._$AN=void 0,this._$AA=e,this._$AB=t,this._$AM=n,this.options=r,this._$Cv=r?.isConnected??!0}get parentNode(){let e=this._$AA.parentNode,t=this._$AM;return t!==void 0&&e?.nodeType===11&&(e=t.parentNode),e}get startNode(){return this._$AA}get endNode(){return this._$AB}_$AI(e,t=this){e=R(this,e,t),k(e)?e===I||e==null||e===``?(this._$AH!==I&&this._$AR(),this._$AH=I):e!==this._$AH&&e!==F&&this._(e):e._$litType$===void 0?e.nodeType===void 0?oe(e)?this.k(e):this._(e):this.T(e):this.$(e)}O(e){return this._$AA.parentNode.insertBefore(e,this._$AB)}T(e){this._$AH!==e&&(this._$AR(),this._$AH=this.O(e))}_(e){this._$AH!==I&&k(this._$AH)?this._$AA.nextSibling.data=e:this.T(D.createTextNode(e)),this._$AH=e}$(e){let{values:t,_$litType$:n}=e,r=typeof n==`number`?this._$AC(e):(n.el===void 0&&(n.el=_e.createElement(he(n.h,n.h[0]),this.options)),n);if(this._$AH?._$AD===r)this._$AH.p(t);else{let e=new ve(r,this),n=e.u(this.options);e.p(t),this.T(n),this._$AH=e}}_$AC(e){let t=me.get(e.strings);return t===void 0&&me.set(e.strings,t=new _e(e)),t}k(t){ae(this._$AH)||(this._$AH=[],this._$AR());let n=this._$AH,r,i=0;for(let a of t)i===n.length?n.push(r=new e(this.O(O()),this.O(O()),this,this.options)):r=n[i],r._$AI(a),i++;i<n.length&&(this._$AR(r&&r._$AB.nextSibling,i),n.length=i)}_$AR(e=this._$AA.nextSibling,t){for(this._$AP?.(!1,!0,t);e!==this._$AB;){let t=w(e).nextSibling;w(e).remove(),e=t}}setConnected(e){this._$AM===void 0&&(this._$Cv=e,this._$AP?.(e))}},be=class{get tagName(){return this.element.tagName}get _$AU(){return this._$AM._$AU}constructor(e,t,n,r,i){this.type=1,this._$AH=I,this._$AN=void 0,this.element=e,this.name=t,this._$AM=r,this.options=i,n.length>2||n[0]!==``||n[1]!==``?(this._$AH=Array(n.length-1).fill(new String),this.strings=n):this._$AH=I}_$AI(e,t=this,n,r){let i=this.strings,a=!1;if(i===void 0)e=R(this,e,t,0),a=!k(e)||e!==this._$AH&&e!==F,a&&(this._$AH=e);else{let r=e,o,s;for(e=i[0],o=0;o<i.length-1;o++)s=R(this,r[n+o],t,o),s===F&&(s=this._$AH[o]),a||=!k(s)||s!==this._$AH[o],s===I?e=I:e!==I&&(e+=(s??``)+i[o+1]),this._$AH[o]=s}a&&!r&&this.j(e)}j(e){e===I?this.element.removeAttribute(this.name):this.element.setAttribute(this.name,e??``)}},xe=class extends be{constructor(){super(...arguments),this.type=3}j(e){this.element[this.name]=e===I?void 0:e}},Se=class extends be{constructor(){super(...arguments),this.type=4}j(e){this.element.toggleAttribute(this.name,!!e&&e!==I)}},Ce=class extends be{constructor(e,t,n,r,i){super(e,t,n,r,i),this.type=5}_$AI(e,t=this){if((e=R(this,e,t,0)??I)===F)return;let n=this._$AH,r=e===I&&n!==I||e.capture!==n.capture||e.once!==n.once||e.passive!==n.passive,i=e!==I&&(n===I||r);r&&this.element.removeEventListener(this.name,this,n),i&&this.element.addEventListener(this.name,this,e),this._$AH=e}handleEvent(e){typeof this._$AH==`function`?this._$AH.call(this.options?.host??this.element,e):this._$AH.handleEvent(e)}},we=class{constructor(e,t,n){this.element=e,this.type=6,this._$AN=void 0,this._$AM=t,this.options=n}get _$AU(){return this._$AM._$AU}_$AI(e){R(this,e)}},Te=C.litHtmlPolyfillSupport;Te?.(_e,ye),(C.litHtmlVersions??=[]).push(`3.3.3`);var Ee=(e,t,n)=>{let r=n?.renderBefore??t,i=r._$litPart$;if(i===void 0){let e=n?.renderBefore??null;r._$litPart$=i=new ye(t.insertBefore(O(),e),e,void 0,n??{})}return i._$AI(e),i},De=globalThis,z=class extends S{constructor(){super(...arguments),this.renderOptions={host:this},this._$Do=void 0}createRenderRoot(){let e=super.createRenderRoot();return this.renderOptions.renderBefore??=e.firstChild,e}update(e){let t=this.render();this.hasUpdated||(this.renderOptions.isConnected=this.isConnected),super.update(e),this._$Do=Ee(t,this.renderRoot,this.renderOptions)}connectedCallback(){super.connectedCallback(),this._$Do?.setConnected(!0)}disconnectedCallback(){super.disconnectedCallback(),this._$Do?.setConnected(!1)}render(){return F}};z._$litElement$=!0,z.finalized=!0,De.litElementHydrateSupport?.({LitElement:z});var Oe=De.litElementPolyfillSupport;Oe?.({LitElement:z}),(De.litElementVersions??=[]).push(`4.2.2`);var ke=class extends Error{constructor(e,t){super(e),this.name=`ParseError`,this.type=t.type,this.field=t.field,this.value=t.value,this.line=t.line}},Ae=10,je=13,B=32;function Me(e){}function Ne(e){if(typeof e==`function`)throw TypeError("`config` must be an object, got a function instead. Did you mean `createParser({onEvent: fn})`?");let{onEvent:t=Me,onError:n=Me,onRetry:r=Me,onComment:i,maxBufferSize:a}=e,o=[],s=0,c=!0,l,u=``,d=0,f,p=!1;function m(e){if(p)throw Error("Cannot feed parser: it was terminated after exceeding the configured max buffer size. Call `reset()` to resume parsing.");if(c&&(c=!1,e.charCodeAt(0)===239&&e.charCodeAt(1)===187&&e.charCodeAt(2)===191&&(e=e.slice(3))),o.length===0){let t=g(e);t!==``&&(o.push(t),s=t.length),h();return}if(e.indexOf(`
`)===-1&&e.indexOf(`\r`)===-1){o.push(e),s+=e.length,h();return}o.push(e);let t=o.join(``);o.length=0,s=0;let n=g(t);n!==``&&(o.push(n),s=n.length),h()}function h(){a!==void 0&&(s+u.length<=a||(p=!0,o.length=0,s=0,l=void 0,u=``,d=0,f=void 0,n(new ke(`Buffered data exceeded max buffer size of ${a} characters`,{type:`max-buffer-size-exceeded`}))))}function g(e){let n=0;if(e.indexOf(`\r`)===-1){let r=e.indexOf(`
`,n);for(;r!==-1;){if(n===r){d>0&&t({id:l,event:f,data:u}),l=void 0,u=``,d=0,f=void 0,n=r+1,r=e.indexOf(`
`,n);continue}let i=e.charCodeAt(n);if(Pe(e,n,i)){let i=e.charCodeAt(n+5)===B?n+6:n+5,a=e.slice(i,r);if(d===0&&e.charCodeAt(r+1)===Ae){t({id:l,event:f,data:a}),l=void 0,u=``,f=void 0,n=r+2,r=e.indexOf(`
`,n);continue}u=d===0?a:`${u}
${a}`,d++}else Fe(e,n,i)?f=e.slice(e.charCodeAt(n+6)===B?n+7:n+6,r)||void 0:_(e,n,r);n=r+1,r=e.indexOf(`
`,n)}return e.slice(n)}for(;n<e.length;){let t=e.indexOf(`\r`,n),r=e.indexOf(`
`,n),i=-1;if(t!==-1&&r!==-1?i=t<r?t:r:t===-1?r!==-1&&(i=r):i=t===e.length-1?-1:t,i===-1)break;_(e,n,i),n=i+1,e.charCodeAt(n-1)===je&&e.charCodeAt(n)===Ae&&n++}return e.slice(n)}function _(e,t,n){if(t===n){y();return}let r=e.charCodeAt(t);if(Pe(e,t,r)){let r=e.charCodeAt(t+5)===B?t+6:t+5,i=e.slice(r,n);u=d===0?i:`${u}
${i}`,d++;return}if(Fe(e,t,r)){f=e.slice(e.charCodeAt(t+6)===B?t+7:t+6,n)||void 0;return}if(r===105&&e.charCodeAt(t+1)===100&&e.charCodeAt(t+2)===58){let r=e.slice(e.charCodeAt(t+3)===B?t+4:t+3,n);r.includes(`\0`)||(l=r);return}if(r===58){if(i){let r=e.slice(t,n);i(r.slice(e.charCodeAt(t+1)===B?2:1))}return}let a=e.slice(t,n),o=a.indexOf(`:`);if(o===-1){v(a,``,a);return}let s=a.slice(0,o),c=a.charCodeAt(o+1)===B?2:1;v(s,a.slice(o+c),a)}function v(e,t,i){switch(e){case`event`:f=t||void 0;break;case`data`:u=d===0?t:`${u}
${t}`,d++;break;case`id`:t.includes(`\0`)||(l=t);break;case`retry`:/^\d+$/.test(t)?r(parseInt(t,10)):n(new ke(`Invalid \`retry\` value: "${t}"`,{type:`invalid-retry`,value:t,line:i}));break;default:n(new ke(`Unknown field "${e.length>20?`${e.slice(0,20)}\u2026`:e}"`,{type:`unknown-field`,field:e,value:t,line:i}))}}function y(){d>0&&t({id:l,event:f,data:u}),l=void 0,u=``,d=0,f=void 0}function b(e={}){if(e.consume&&o.length>0){let e=o.join(``);_(e,0,e.length)}c=!0,l=void 0,u=``,d=0,f=void 0,o.length=0,s=0,p=!1}return{feed:m,reset:b}}function Pe(e,t,n){return n===100&&e.charCodeAt(t+1)===97&&e.charCodeAt(t+2)===116&&e.charCodeAt(t+3)===97&&e.charCodeAt(t+4)===58}function Fe(e,t,n){return n===101&&e.charCodeAt(t+1)===118&&e.charCodeAt(t+2)===101&&e.charCodeAt(t+3)===110&&e.charCodeAt(t+4)===116&&e.charCodeAt(t+5)===58}var V=class extends Error{};async function*Ie(e,t={}){let{pauses_ms:n=[500,1500,4e3],silence_ms:r=3e4,signal:i}=t,a=``;for(let t=0;;t+=1)try{let n=await e(a),i=n.headers.get(`X-Lutrin-Message`);i&&a===``&&(a=`${i}.0`);for await(let{id:e,event:i}of Le(n,r))if((e===``||e!==a)&&(a=e||a,t=0,yield i,i.type===`done`||i.type===`error`))return;throw new V(`the stream ended before the answer did`)}catch(e){let r=e instanceof V||e instanceof TypeError,o=n[t];if(!r||i?.aborted||a===``||o===void 0)throw e instanceof V?TypeError(e.message):e;yield{type:`resuming`},await new Promise(e=>setTimeout(e,o)),i?.throwIfAborted()}}async function*Le(e,t){if(!e.headers.get(`content-type`)?.startsWith(`text/event-stream`)){yield{id:``,event:Re(await e.json())};return}let n=[],r=Ne({onEvent:({id:e=``,event:t=``,data:r})=>{let i=JSON.parse(r);n.push({id:e,event:{...i,type:i.type??t}})}}),i=e.body?.getReader();if(!i)throw new V(`the response has no body`);let a=new TextDecoder,o=!1;try{for(;;){let{done:e,value:s}=await ze(i.read(),t);if(e)return;r.feed(a.decode(s,{stream:!0})),o||=n.some(({event:{type:e}})=>e===`done`||e===`error`),yield*n.splice(0)}}finally{(o?i.read():i.cancel()).catch(()=>void 0)}}function Re(e){return{type:`done`,answer:e.answer,sources:e.citations,mode:`book`,kind:`generated`,refusal:null,suggestions:[],warnings:e.warnings,model_used:``,latency_ms:0,generation:``}}async function ze(e,t){let n,r=new Promise((e,r)=>{n=setTimeout(()=>r(new V(`the connection went silent`)),t)});try{return await Promise.race([e,r])}finally{clearTimeout(n)}}var Be=class extends Error{status;retryAfter_s;constructor(e,t,n){super(t),this.status=e,this.retryAfter_s=n}},Ve=1e4,He=class{base;#e;#t;constructor(e,t,n=(...e)=>fetch(...e)){this.base=e,this.#e=t,this.#t=n}ask(e,t){let n=``;return{events:Ie(async r=>{let i={"Content-Type":`application/json`,Accept:`text/event-stream`};r&&(i[`Last-Event-ID`]=r);let a=await this.#i(`chat`,{method:`POST`,headers:i,body:JSON.stringify(e),signal:t});return n=a.headers.get(`x-lutrin-message`)??n,a},{signal:t}),messageId:()=>n}}async history(e){let{messages:t}=await this.#n(`history/${encodeURIComponent(e)}`);return t}async sessions(){return(await this.#n(`sessions`)).sessions}async rename(e,t){await this.#r(`sessions/${encodeURIComponent(e)}`,`PATCH`,{title:t})}async remove(e){await this.#r(`sessions/${encodeURIComponent(e)}`,`DELETE`)}async exported(e,t){return(await this.#r(`sessions/${encodeURIComponent(e)}/export?form=${t}`,`GET`)).blob()}async judge(e,t,n){await this.#r(`messages/${encodeURIComponent(e)}/feedback`,`POST`,{value:t,comment:n})}async#n(e){return await(await this.#r(e,`GET`)).json()}#r(e,t,n){let r={method:t,signal:AbortSignal.timeout(Ve)};return n&&Object.assign(r,{body:JSON.stringify(n),headers:{"Content-Type":`application/json`}}),this.#i(e,r)}async#i(e,t){let n=await this.#t(new URL(e,this.base),{...t,headers:{...t.headers,"X-Lutrin-Client":this.#e},credentials:`omit`,cache:`no-store`,referrerPolicy:`no-referrer`});if(!n.ok)throw await We(n);return n}};function Ue(e,t){if(e?.trim())try{let n=new URL(e.trim(),t);return/^https?:$/.test(n.protocol)?(n.pathname.endsWith(`/`)||(n.pathname+=`/`),n.search=n.hash=``,n):void 0}catch{return}}async function We(e){let t={};try{t=await e.json()}catch{}let n=t.retry_after_s??Number(e.headers.get(`retry-after`)??0);return new Be(e.status,t.detail??``,e.status===429?Math.max(1,n):0)}async function Ge(e){try{return await navigator.clipboard.writeText(e),!0}catch{let t=document.createElement(`textarea`);t.value=e,t.readOnly=!0,t.style.position=`fixed`,t.style.opacity=`0`,document.body.append(t),t.select();let n=document.execCommand(`copy`);return t.remove(),n}}var Ke=12e3,qe=class{turns=[];phase=`idle`;restoreFailed=!1;admittedAt_ms=0;#e;#t;#n;#r=0;constructor(e,t=Date.now){this.#e=e,this.#t=t}get wait_s(){return Math.max(0,Math.ceil((this.admittedAt_ms-this.#t())/1e3))}get ready(){return this.phase===`idle`&&this.wait_s===0}clear(){this.stop(),this.#r+=1,this.turns=[],this.phase=`idle`,this.restoreFailed=!1,this.#e()}async restore(e,t){this.clear();let n=this.#r;this.phase=`restoring`,this.#e();try{let r=await e.history(t);if(n!==this.#r)return;this.turns=Ye(r)}catch{if(n!==this.#r)return;this.restoreFailed=!0}this.phase=`idle`,this.#e()}async ask(e,t,n){let r=n.text.trim();if(!r||!this.ready)return;this.turns=this.turns.filter(e=>e.state!==`failed`),this.restoreFailed=!1;let i=Je(r,(n.selectedText??``).slice(0,Ke),n.mode,this.#t());if(this.turns.push(i),!e)return this.#a(i,``);this.phase=`asking`,this.#e();let a=this.#n=new AbortController;try{await this.#i(e,i,t,n.book,a.signal)}catch(e){a.signal.aborted?i.state=`stopped`:this.#a(i,e instanceof Be?this.#o(e):``)}return i.queue=void 0,i.resuming=!1,this.#n===a&&(this.#n=void 0,this.phase=`idle`),this.#e(),i}stop(){this.#n?.abort()}async judge(e,t,n,r=``){let i=t.verdict;t.verdict=n,this.#e();try{await e.judge(t.messageId,n,r)}catch{t.verdict=i,this.#e()}}async#i(e,t,n,r,i){let{events:a,messageId:o}=e.ask({session_id:n,message:t.question,...t.selectedText&&{selected_text:t.selectedText},...t.mode&&{mode:t.mode},...r&&{book:r}},i);for await(let e of a){switch(t.resuming=e.type===`resuming`,e.type!==`queued`&&e.type!==`resuming`&&(t.queue=void 0),e.type){case`queued`:t.queue=e;break;case`sources`:t.sources=e.citations;break;case`quote`:t.state=`streaming`,t.quotes.push(e);break;case`sentence`:t.state=`streaming`,t.sentences.push(e);break;case`done`:t.state=`done`,t.answered=new Date(this.#t()),t.text=e.answer,t.sources=e.sources,t.kind=e.kind,t.refusal=e.refusal??void 0,t.suggestions=e.suggestions,t.warnings=e.warnings,t.messageId=o();break;case`error`:this.#a(t,e.detail)}this.#e()}}#a(e,t){return e.state=`failed`,e.error=t,this.#e(),e}#o(e){return e.retryAfter_s&&(this.admittedAt_ms=this.#t()+e.retryAfter_s*1e3),e.status<500||e.status===503?e.message:``}};function Je(e,t,n,r){return{question:e,selectedText:t,mode:n,asked:new Date(r),answered:void 0,state:`waiting`,queue:void 0,resuming:!1,quotes:[],sentences:[],sources:[],text:``,kind:void 0,refusal:void 0,suggestions:[],warnings:[],messageId:``,verdict:void 0,error:``}}function Ye(e){let t=[];for(let n of e){let e=t.at(-1),r=new Date(n.created);if(n.role===`user`){let e=Je(n.text,n.selected_text,n.mode??void 0,r.getTime());t.push({...e,state:`stopped`});continue}let i={state:`done`,answered:r,text:n.text,sources:n.citations,kind:n.kind??void 0,messageId:n.id};e&&e.state===`stopped`?Object.assign(e,i):t.push({...Je(``,``,void 0,r.getTime()),...i})}return t}function Xe(e){return e.text?e.text:e.sentences.map(({text:e,citations:t})=>{let n=t.filter(t=>!e.includes(`[${t}]`)).map(e=>`[${e}]`);return n.length?`${e} ${n.join(``)}`:e}).join(` `)}function Ze(e,t){return e.sources.find(e=>e.n===t)??e.quotes.find(e=>e.citation.n===t)?.citation}var H=`lutrin:session`,Qe=`lutrin:secret`;function $e(e){try{let t=e();return t.getItem(H),t}catch{let e=new Map;return{getItem:t=>e.get(t)??null,setItem:(t,n)=>void e.set(t,n),removeItem:t=>void e.delete(t)}}}function U(e=crypto){if(typeof e.randomUUID==`function`)return e.randomUUID();let t=e.getRandomValues(new Uint8Array(16));return t[6]=(t[6]??0)&15|64,t[8]=(t[8]??0)&63|128,Array.from(t,e=>e.toString(16).padStart(2,`0`)).join(``).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/,`$1-$2-$3-$4-$5`)}var et=class{known;#e;constructor(e){this.#e=e,this.known=e.getItem(H)!==null,this.known||(this.session=U()),e.getItem(Qe)===null&&e.setItem(Qe,U()+U())}get session(){return this.#e.getItem(H)??``}set session(e){this.#e.setItem(H,e)}startNew(){this.session=U()}get secret(){return this.#e.getItem(Qe)??``}},tt=`lutrin:met`,nt=[0,.25,.5,.75,1],rt=[0,.5,1],W=4,it=class{shown;#e;#t;#n;#r=!1;constructor(e,t){this.#e=e,this.#t=t,this.shown=t.getItem(tt)===null,e.addController(this)}hostConnected(){this.#n=new AbortController;let{signal:e}=this.#n;addEventListener(`scroll`,()=>this.#a(),{signal:e,passive:!0}),addEventListener(`resize`,()=>this.#i(),{signal:e,passive:!0})}hostUpdated(){this.#r||this.#i()}hostDisconnected(){this.#n?.abort()}accept(){this.#t.setItem(tt,`yes`),this.#a()}#i(){let e=this.#e.renderRoot.querySelector(`.invitation`);this.#r=e!==null,e&&at(e.getBoundingClientRect())&&this.#a()}#a(){this.shown&&(this.shown=!1,this.#e.requestUpdate())}};function at(e){let t=nt.flatMap(t=>rt.map(n=>[e.left+t*e.width,e.top+n*e.height])),n=new Set(t.flatMap(([e,t])=>document.elementsFromPoint(e,t))),r=document.createRange();for(let t of n)for(let n of t.childNodes)if(n instanceof Text&&n.data.trim()){r.selectNodeContents(n);for(let t of r.getClientRects())if(ot(t,e))return!0}return!1}function ot(e,t){let[n,r]=[t.right+W,t.bottom+W];return e.left<n&&t.left<e.right+W&&e.top<r&&t.top<e.bottom+W}function G(e){return e.map(ct).join(``)}function st(e){return e.map(lt).join(` `)}function ct(e){switch(e.type){case`text`:case`code`:return e.text;case`math`:return e.tex;case`break`:return` `;case`cite`:return``;case`image`:return e.alt;default:return G(e.children)}}function lt(e){switch(e.type){case`code`:return e.text;case`quote`:return st(e.blocks);case`list`:return e.items.map(e=>st(e.blocks)).join(` `);case`table`:return[e.header,...e.rows].flat().map(G).join(` `);case`rule`:return``;default:return G(e.children)}}var ut=64,dt=/[\\`*_~[\]!$<&\n]|https?:\/\//g,ft=/^\\([!-/:-@[-`{-~])/,pt=/^\[(\d{1,3})\](?![([])/,mt=/^\$(?![\s$])((?:\\[^\n]|[^\\$\n])+?)(?<!\s)\$(?!\d)/,ht=/^\$\$((?:\\[^]|[^\\$])+?)\$\$/,gt=/^<((?:https?:\/\/|mailto:)[^\s<>]{1,2000})>/,_t=/^https?:\/\/[^\s<>"'`\]]{1,2000}/,vt=/^\(\s*(?:<([^<>\n]{0,2000})>|([^\s()<>]{0,2000}(?:\([^\s()<>]{0,500}\)[^\s()<>]{0,500}){0,3}))(?:\s+(?:"[^"]{0,500}"|'[^']{0,500}'))?\s*\)/,yt=/^&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|(\w{2,6}));/,bt={amp:`&`,lt:`<`,gt:`>`,quot:`"`,apos:`'`,nbsp:`\xA0`};function xt(e){let t=[],n=[],r=[],i=new Set,a=0,o=e=>{let n={type:`text`,text:e};return t.push(n),n},s=(n,r)=>{let i=n.exec(e.slice(a,a+8192)),o=i&&r(i);return o?(t.push(o),a+=i[0].length,!0):!1};function c(){let n=/^`+/.exec(e.slice(a))?.[0]??"`",r=a+n.length,s=RegExp(`(?<!\`)\`{${n.length}}(?!\`)`,`g`);s.lastIndex=r;let c=i.has(n.length)?null:s.exec(e);if(a=r,!c){i.add(n.length),o(n);return}let l=e.slice(r,c.index).replace(/\n/g,` `);t.push({type:`code`,text:/^ .*\S.* $/.test(l)?l.slice(1,-1):l}),a=c.index+n.length}function l(t){let r=1;for(;e[a+r]===t;)r+=1;let[i,s]=[e[a-1]??` `,e[a+r]??` `],c=Tt(i,s),l=Tt(s,i),u=t===`_`&&c&&l;n.push({node:o(t.repeat(r)),char:t,count:r,opens:c&&(!u||Et(i)),closes:l&&(!u||Et(s))}),a+=r}function u(){a+=1;let i=r.pop(),s=i&&vt.exec(e.slice(a,a+4096));if(!s){o(`]`);return}let c=St(t.splice(t.lastIndexOf(i.node)).slice(1),n.splice(i.runs));a+=s[0].length;let l=(s[1]??s[2]??``).replace(/\\([!-/:-@[-`{-~])/g,`$1`);t.push(i.image?{type:`image`,alt:G(c)}:{type:`link`,href:l,children:c})}for(;a<e.length;){dt.lastIndex=a;let i=dt.exec(e)?.index??e.length;i>a&&o(e.slice(a,i)),a=i;let d=e[a];if(d===void 0)break;if(!(d===`\\`&&s(ft,([,e=``])=>({type:`text`,text:e})))&&!(d===`\\`&&s(/^\\\n/,()=>({type:`break`})))){if(d===`
`){let e=t[t.length-1],n=e?.type===`text`&&/ {2,}$/.test(e.text);t.push(n?{type:`break`}:{type:`text`,text:`
`}),a+=1}else if(d==="`")c();else if(d===`*`||d===`_`||d===`~`)l(d);else if(d===`[`&&s(pt,([e,t])=>({type:`cite`,n:Number(t),raw:e})))continue;else if(d===`[`||d===`!`&&e[a+1]===`[`){let e=d===`!`;r.push({node:o(e?`![`:`[`),image:e,runs:n.length}),a+=e?2:1}else if(d===`]`)u();else if(d===`$`&&s(ht,([,e=``])=>({type:`math`,tex:e.trim(),display:!0})))continue;else if(d===`$`&&s(mt,([,e=``])=>({type:`math`,tex:e,display:!1})))continue;else if(d===`<`&&s(gt,([,e=``])=>Dt(e)))continue;else if(d===`h`){let n=(_t.exec(e.slice(a,a+2048))?.[0]??d).replace(/[.,:;!?)*_~]+$/,``);t.push(Dt(n)),a+=n.length}else if(d===`&`&&s(yt,e=>({type:`text`,text:Ot(e)})))continue;else o(d),a+=1}}return St(t,n)}function St(e,t){let n=new Map(t.map(e=>[e.node,e])),r=[],i=[],a=()=>i[i.length-1]?.children??r,o=e=>{for(;i.length>e;){let{run:e,children:t}=i.pop()??{children:[]},n=a();e&&n.push(Ct(e));for(let e of t)n.push(e)}};for(let t of e){let e=n.get(t);if(!e)a().push(t);else{for(;e.closes&&e.count>0;){let t=i.findLastIndex(t=>wt(t.run,e));if(t<0)break;o(t+1);let{run:n,children:r}=i.pop()??{run:e,children:[]},s=e.char===`~`?e.count:Math.min(n.count,e.count,2);n.count-=s,e.count-=s;let c=e.char===`~`?`del`:s===2?`strong`:`em`;n.count>0?i.push({run:n,children:[{type:c,children:r}]}):a().push({type:c,children:r})}e.count>0&&e.opens?i.push({run:e,children:[]}):e.count>0&&a().push(Ct(e)),i.length>ut&&o(0)}}return o(0),r}function Ct(e){return{type:`text`,text:e.char.repeat(e.count)}}function wt(e,t){return e.char===t.char?e.char===`~`?e.count===t.count&&e.count<=2:!(e.closes||t.opens)||(e.count+t.count)%3!=0||e.count%3==0&&t.count%3==0:!1}function Tt(e,t){return/\s/.test(t)?!1:!Et(t)||/\s/.test(e)||Et(e)}function Et(e){return/[\p{P}\p{S}]/u.test(e)}function Dt(e){return{type:`link`,href:e,children:[{type:`text`,text:e}]}}function Ot([e,t,n,r]){if(r)return bt[r]??e;let i=t?Number(t):parseInt(n??``,16);return i>0&&i<=1114111?String.fromCodePoint(i):`�`}var kt=4e4,At=12,jt=/^ {0,3}(`{3,}|~{3,})[ \t]*([^`]*)$/,Mt=/^ {0,3}#{1,6}(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/,Nt=/\s*\{#[^{}]*\}$/,Pt=/^ {0,3}(?:=+|-+)[ \t]*$/,Ft=/^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/,K=/^ {0,3}> ?/,q=/^( {0,3})([-*+]|(\d{1,9})[.)])(?:[ \t]+(?=\S)|[ \t]*$)/,It=/^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/,Lt=/^ {0,3}:{3,}[ \t]*[a-z]/i,Rt=/^ {0,3}:{3,}[ \t]*$/;function zt(e){return Bt(e.slice(0,kt).replace(/\r\n?/g,`
`).replace(/\t/g,`    `).split(`
`),0)}function Bt(e,t){let n=[],r=0,i=t=>{let n=r;for(;r<e.length&&t(e[r]??``);)r+=1;return e.slice(n,r)};for(;r<e.length;){let a=e[r]??``,o=jt.exec(a);if(!a.trim())r+=1;else if(t>At)n.push(Ht(i(()=>!0)));else if(o){let[e,t="```",s=``]=[a.search(/\S/),o[1],o[2]],c=RegExp(`^ {0,3}${t[0]}{${t.length},}[ \\t]*$`);r+=1;let l=i(e=>!c.test(e)).map(t=>t.replace(RegExp(`^ {0,${e}}`),``));r+=1,n.push({type:`code`,text:l.join(`
`),language:/^[\w+#.-]{1,20}/.exec(s)?.[0]??``})}else if(/^ {4}/.test(a)){let e=i(e=>/^ {4}|^\s*$/.test(e)).map(e=>e.slice(4));n.push({type:`code`,text:e.join(`
`).trimEnd(),language:``})}else if(Mt.test(a))r+=1,n.push({type:`heading`,children:xt((Mt.exec(a)?.[1]??``).replace(Nt,``))});else if(Ft.test(a))r+=1,n.push({type:`rule`});else if(K.test(a)){let e=!1,r=i(t=>{if(K.test(t))e=!!t.replace(K,``).trim();else if(!e||!t.trim()||Vt(t))return!1;return!0});n.push({type:`quote`,blocks:Bt(r.map(e=>e.replace(K,``)),t+1)})}else if(q.test(a)){let[i,a]=Ut(e,r,t);n.push(i),r=a}else if(a.includes(`|`)&&Wt(a,e[r+1])){r+=2;let e=i(e=>e.includes(`|`)&&!!e.trim()&&!Vt(e)),t=Gt(a);n.push({type:`table`,header:t,rows:e.map(e=>qt(Gt(e),t.length))})}else if(Lt.test(a)){r+=1;let e=i(e=>!Rt.test(e));r+=1;let o=/\[(.*)\]/.exec(a)?.[1];n.push({type:`quote`,blocks:Bt(o?[`**${o}**`,``,...e]:e,t+1)})}else{let t=r;r+=1;let o=[a,...i(e=>!!e.trim()&&!Vt(e)&&!Pt.test(e))],s=Pt.test(e[r]??``)&&r>t;s&&(r+=1),n.push({...Ht(o),type:s?`heading`:`paragraph`})}}return n}function Vt(e){let t=q.exec(e);return t!==null&&t[0].length<e.length&&(t[3]===void 0||t[3]===`1`)||jt.test(e)||Mt.test(e)||Ft.test(e)||K.test(e)||Rt.test(e)||Lt.test(e)}function Ht(e){return{type:`paragraph`,children:xt(e.map(e=>e.trimStart()).join(`
`).trimEnd())}}function Ut(e,t,n){let r=q.exec(e[t]??``),i=(e=``)=>e.at(-1)??``,a=[],[o,s]=[t,!0];for(;o<e.length;){let t=q.exec(e[o]??``);if(!t||i(t[2])!==i(r?.[2])||Ft.test(e[o]??``))break;let c=t[0].length===(e[o]??``).length?t[0].trimEnd().length+1:t[0].length,l=[(e[o]??``).slice(t[0].length)];o+=1;let[u,d]=[!1,0];for(;o<e.length;o+=1){let t=e[o]??``,n=t.search(/\S/);if(n<0)d+=1;else if(n>=c||d===0&&!Vt(t)&&!q.test(t))d&&(u=!0),l.push(...Array(d).fill(``),n>=c?t.slice(c):t),d=0;else break}let f=q.exec(e[o]??``);(u||d&&f&&i(f[2])===i(r?.[2]))&&(s=!1);let p=/^\[([ xX])\] (?=\S)/.exec(l[0]??``);p&&(l[0]=(l[0]??``).slice(p[0].length)),a.push({checked:p?p[1]!==` `:void 0,blocks:Bt(l,n+1)})}return[{type:`list`,start:r?.[3]===void 0?void 0:Number(r[3]),tight:s,items:a},o]}function Wt(e,t){return!t||!It.test(t)?!1:Kt(e).length===Kt(t).length}function Gt(e){return Kt(e).map(xt)}function Kt(e){return e.trim().replace(/^\|/,``).replace(/(?<!\\)\|$/,``).split(/(?<!\\)\|/).map(e=>e.replace(/\\\|/g,`|`).trim())}function qt(e,t){return Array.from({length:t},(t,n)=>e[n]??[])}function Jt(e){return st(zt(e)).replace(/\s+/g,` `).trim()}function Yt(e){try{let t=new URL(e);return/^(https?|mailto):$/.test(t.protocol)?t.href:void 0}catch{return}}var Xt=`script, style, template, noscript, lutrin-chat, .katex-html, semantics > :not(annotation), [aria-hidden="true"], .sr-only`,Zt=`lutrin-passage`,Qt=24;function $t(e,t,n){let r=tn(Jt(t))||tn(t);if(!r)return;let i=rn(e),a=n?an(i,n):0,[o,s]=nn(i.letters,r,a);return s>o?on(i,o,s):void 0}function en(e){let t=e.startContainer.ownerDocument,{highlights:n}=CSS;if(!t||!n||typeof Highlight>`u`){let t=getSelection();t?.removeAllRanges(),t?.addRange(e)}else{if(!n.has(Zt)){let e=new CSSStyleSheet;e.replaceSync(`::highlight(${Zt}) {background-color: var(--lutrin-mark, #ffe08a); color: var(--lutrin-mark-text, #2e1f14)}`),t.adoptedStyleSheets=[...t.adoptedStyleSheets,e]}n.set(Zt,new Highlight(e))}}function tn(e){return Array.from(e,e=>sn(e)?cn(e):``).join(``)}function nn(e,t,n){let r=(t,n)=>{let r=e.indexOf(t,n);return r>=0?r:e.indexOf(t)},i=r(t,n);if(i>=0)return[i,i+t.length];if(t.length<=Qt)return[0,0];let a=r(t.slice(0,Qt),n),o=t.slice(-24);if(a<0){let e=r(o,n);return e<0?[0,0]:[e,e+o.length]}let s=e.indexOf(o,a);return[a,s>=0&&s-a<t.length*2?s+o.length:a+Qt]}function rn(e){let t={letters:``,nodes:[],owners:[],offsets:[]},n=[],r=document.createTreeWalker(e,NodeFilter.SHOW_TEXT,e=>e.parentElement?.closest(Xt)?NodeFilter.FILTER_REJECT:NodeFilter.FILTER_ACCEPT);for(;r.nextNode();){let e=r.currentNode,i=t.nodes.push(e)-1,a=0;for(let r of e.data){if(sn(r)){let e=cn(r);n.push(e);for(let n=0;n<e.length;n+=1)t.owners.push(i),t.offsets.push(a)}a+=r.length}}return t.letters=n.join(``),t}function an(e,t){let n=e.nodes.findIndex(e=>t.contains(e)||(t.compareDocumentPosition(e)&Node.DOCUMENT_POSITION_FOLLOWING)!==0),r=n<0?-1:e.owners.findIndex(e=>e>=n);return Math.max(0,r)}function on(e,t,n){let r=document.createRange(),i=t=>[e.nodes[e.owners[t]??0],e.offsets[t]??0],[a,o]=i(t),[s,c]=i(n-1),[l,u]=[a,s].map(e=>e.parentElement?.closest(`math`));if(l?r.setStartBefore(l):r.setStart(a,o),u)return r.setEndAfter(u),r;let d=c+String.fromCodePoint(s.data.codePointAt(c)??32).length;for(;/^[.!?)\]»”’"'…]/.test(s.data.slice(d));)d+=1;return r.setEnd(s,d),r}function sn(e){return/[\p{L}\p{N}]/u.test(e)}function cn(e){return e.toLowerCase()}var ln=`lutrin:passage`,un=6e4,dn=[0,60,150,300,600,1200],fn=8;function pn(e,t,n){let r=new URL(e.url.replace(/^\/+/,``),t);if(r.origin!==new URL(n).origin){let t=Jt(e.quote).split(` `).filter(Boolean),n=e=>encodeURIComponent(e.join(` `)).replace(/-/g,`%2D`),i=t.length>8?`${n(t.slice(0,4))},${n(t.slice(-4))}`:n(t);r.hash=`${r.hash.slice(1)}:~:text=${i}`}return r}var mn=class{#e;#t=0;constructor(e){this.#e=e}expect(e,t){let n={path:gn(e.pathname),quote:t,at_ms:Date.now()};this.#e.setItem(ln,JSON.stringify(n))}async arrived(){let e=this.#n();if(!e)return;let t=++this.#t;for(let n of dn){if(await new Promise(e=>setTimeout(e,n)),t!==this.#t)return;let r=_n(location.hash);if(location.hash&&!r)continue;let i=$t(vn(r),e.quote,r);if(i){en(i),r||await yn(),t===this.#t&&bn(i,r);return}}}#n(){let e=this.#e.getItem(ln);if(!e)return;let t=JSON.parse(e),n=Date.now()-t.at_ms<un;if(!(n&&t.path!==gn(location.pathname)))return this.#e.removeItem(ln),n?t:void 0}};function hn(e,t){return e.origin===t.origin&&gn(e.pathname)===gn(t.pathname)&&e.search===t.search}function gn(e){return e.replace(/(?:\/index)?(?:\.html)?\/?$/,``)}function _n(e){try{return document.getElementById(decodeURIComponent(e.slice(1)))}catch{return null}}function vn(e){return e?.closest(`article, main, [role="main"]`)??document.querySelector(`article, main, [role="main"]`)??document.body}async function yn(){scrollTo({top:scrollY,behavior:`instant`});for(let e=0;e<2;e+=1)await new Promise(requestAnimationFrame)}function bn(e,t){let n=e.startContainer.parentElement?.closest(`details`);for(;n;n=n.parentElement?.closest(`details`))n.open=!0;let{top:r,bottom:i}=e.getBoundingClientRect(),a=xn(getComputedStyle(document.documentElement).scrollPaddingTop),o=t?xn(getComputedStyle(t).scrollMarginTop):0,s=t?t.getBoundingClientRect().top-o-a:0,c=e=>r-e>=a-fn&&i-e<=innerHeight;if(c(s))c(0)||t?.scrollIntoView();else{let e=matchMedia(`(prefers-reduced-motion: reduce)`).matches;scrollBy({top:r-innerHeight/3,behavior:e?`instant`:`smooth`})}}function xn(e){return parseFloat(e)||0}var Sn=`data-lutrin-context`,Cn=`button, a, summary, [role="button"], input, select, textarea, label`,wn=class{#e;#t;#n;constructor(e,t){this.#e=e,this.#t=t,e.addController(this)}hostConnected(){let{signal:e}=this.#n=new AbortController;addEventListener(`lutrin:ask`,e=>this.#t.ask(Tn(e)),{signal:e}),document.addEventListener(`click`,e=>this.#r(e),{signal:e})}hostDisconnected(){this.#n?.abort()}#r(e){if(e.composedPath().includes(this.#e)||!(e.target instanceof Element))return;let t=e.target.closest(`a[data-lutrin-quote]`);if(t)return this.#t.lead(e,new URL(t.href),t.dataset.lutrinQuote??``);let n=e.target.closest(`[${Sn}]`);if(!n)return;let r=(n.getAttribute(Sn)||n.textContent||``).trim();if(n.matches(Cn)){n instanceof HTMLAnchorElement&&e.preventDefault(),this.#t.ask({selectedText:r,question:n.getAttribute(`data-lutrin-question`)??``});return}let i=e.target.closest(Cn);getSelection()?.isCollapsed!==!1&&!(i&&n.contains(i))&&this.#t.offer(r,n)}};function Tn(e){let{question:t,selectedText:n}=(e instanceof CustomEvent?e.detail:void 0)??{};return{question:typeof t==`string`?t.trim():``,selectedText:typeof n==`string`?n.trim():``}}var En=Math.min,Dn=Math.max,On={left:`right`,right:`left`,bottom:`top`,top:`bottom`};function kn(e,t,n){return Dn(e,En(t,n))}function An(e,t){return typeof e==`function`?e(t):e}function J(e){return e.split(`-`)[0]}function jn(e){return e.split(`-`)[1]}function Mn(e){return e===`x`?`y`:`x`}function Nn(e){return e===`y`?`height`:`width`}function Y(e){let t=e[0];return t===`t`||t===`b`?`y`:`x`}function Pn(e){return Mn(Y(e))}function Fn(e,t,n){n===void 0&&(n=!1);let r=jn(e),i=Pn(e),a=Nn(i),o=i===`x`?r===(n?`end`:`start`)?`right`:`left`:r===`start`?`bottom`:`top`;return t.reference[a]>t.floating[a]&&(o=Wn(o)),[o,Wn(o)]}function In(e){let t=Wn(e);return[Ln(e),t,Ln(t)]}function Ln(e){return e.includes(`start`)?e.replace(`start`,`end`):e.replace(`end`,`start`)}var Rn=[`left`,`right`],zn=[`right`,`left`],Bn=[`top`,`bottom`],Vn=[`bottom`,`top`];function Hn(e,t,n){switch(e){case`top`:case`bottom`:return n?t?zn:Rn:t?Rn:zn;case`left`:case`right`:return t?Bn:Vn;default:return[]}}function Un(e,t,n,r){let i=jn(e),a=Hn(J(e),n===`start`,r);return i&&(a=a.map(e=>e+`-`+i),t&&(a=a.concat(a.map(Ln)))),a}function Wn(e){let t=J(e);return On[t]+e.slice(t.length)}function Gn(e){return{top:e.top??0,right:e.right??0,bottom:e.bottom??0,left:e.left??0}}function Kn(e){return typeof e==`number`?{top:e,right:e,bottom:e,left:e}:Gn(e)}function qn(e){let{x:t,y:n,width:r,height:i}=e;return{width:r,height:i,top:n,left:t,right:t+r,bottom:n+i,x:t,y:n}}function Jn(e,t,n){let{reference:r,floating:i}=e,a=Y(t),o=Pn(t),s=Nn(o),c=J(t),l=a===`y`,u=r.x+r.width/2-i.width/2,d=r.y+r.height/2-i.height/2,f=r[s]/2-i[s]/2,p;switch(c){case`top`:p={x:u,y:r.y-i.height};break;case`bottom`:p={x:u,y:r.y+r.height};break;case`right`:p={x:r.x+r.width,y:d};break;case`left`:p={x:r.x-i.width,y:d};break;default:p={x:r.x,y:r.y}}let m=jn(t);return m&&(p[o]+=f*(m===`end`?1:-1)*(n&&l?-1:1)),p}async function Yn(e,t){t===void 0&&(t={});let{x:n,y:r,platform:i,rects:a,elements:o,strategy:s}=e,{boundary:c=`clippingAncestors`,rootBoundary:l=`viewport`,elementContext:u=`floating`,altBoundary:d=!1,padding:f=0}=An(t,e),p=Kn(f),m=o[d?u===`floating`?`reference`:`floating`:u],h=qn(await i.getClippingRect({element:await(i.isElement==null?void 0:i.isElement(m))??!0?m:m.contextElement||await(i.getDocumentElement==null?void 0:i.getDocumentElement(o.floating)),boundary:c,rootBoundary:l,strategy:s})),g=u===`floating`?{x:n,y:r,width:a.floating.width,height:a.floating.height}:a.reference,_=await(i.getOffsetParent==null?void 0:i.getOffsetParent(o.floating)),v=await(i.isElement==null?void 0:i.isElement(_))&&await(i.getScale==null?void 0:i.getScale(_))||{x:1,y:1},y=qn(i.convertOffsetParentRelativeRectToViewportRelativeRect?await i.convertOffsetParentRelativeRectToViewportRelativeRect({elements:o,rect:g,offsetParent:_,strategy:s}):g);return{top:(h.top-y.top+p.top)/v.y,bottom:(y.bottom-h.bottom+p.bottom)/v.y,left:(h.left-y.left+p.left)/v.x,right:(y.right-h.right+p.right)/v.x}}var Xn=50,Zn=async(e,t,n)=>{let{placement:r=`bottom`,strategy:i=`absolute`,middleware:a=[],platform:o}=n,s=o.detectOverflow?o:{...o,detectOverflow:Yn},c=await(o.isRTL==null?void 0:o.isRTL(t)),l=await o.getElementRects({reference:e,floating:t,strategy:i}),{x:u,y:d}=Jn(l,r,c),f=r,p=0,m={};for(let n=0;n<a.length;n++){let h=a[n];if(!h)continue;let{name:g,fn:_}=h,{x:v,y,data:b,reset:x}=await _({x:u,y:d,initialPlacement:r,placement:f,strategy:i,middlewareData:m,rects:l,platform:s,elements:{reference:e,floating:t}});u=v??u,d=y??d,m[g]={...m[g],...b},x&&p<Xn&&(p++,typeof x==`object`&&(x.placement&&(f=x.placement),x.rects&&(l=x.rects===!0?await o.getElementRects({reference:e,floating:t,strategy:i}):x.rects),{x:u,y:d}=Jn(l,f,c)),n=-1)}return{x:u,y:d,placement:f,strategy:i,middlewareData:m}},Qn=function(e){return e===void 0&&(e={}),{name:`flip`,options:e,async fn(t){var n;let{placement:r,middlewareData:i,rects:a,initialPlacement:o,platform:s,elements:c}=t,{mainAxis:l=!0,crossAxis:u=!0,fallbackPlacements:d,fallbackStrategy:f=`bestFit`,fallbackAxisSideDirection:p=`none`,flipAlignment:m=!0,...h}=An(e,t);if((n=i.arrow)!=null&&n.alignmentOffset)return{};let g=J(r),_=Y(o),v=J(o)===o,y=await(s.isRTL==null?void 0:s.isRTL(c.floating)),b=d||(v||!m?[Wn(o)]:In(o)),x=p!==`none`;!d&&x&&b.push(...Un(o,m,p,y));let ee=[o,...b],S=await s.detectOverflow(t,h),C=[],w=i.flip?.overflows||[];if(l&&C.push(S[g]),u){let e=Fn(r,a,y);C.push(S[e[0]],S[e[1]])}if(w=[...w,{placement:r,overflows:C}],!C.every(e=>e<=0)){let e=(i.flip?.index||0)+1,t=ee[e];if(t&&(u!==`alignment`||_===Y(t)||w.every(e=>Y(e.placement)!==_||e.overflows[0]>0)))return{data:{index:e,overflows:w},reset:{placement:t}};let n=w.filter(e=>e.overflows[0]<=0).sort((e,t)=>e.overflows[1]-t.overflows[1])[0]?.placement;if(!n)switch(f){case`bestFit`:{let e=w.filter(e=>{if(x){let t=Y(e.placement);return t===_||t===`y`}return!0}).map(e=>[e.placement,e.overflows.filter(e=>e>0).reduce((e,t)=>e+t,0)]).sort((e,t)=>e[1]-t[1])[0]?.[0];e&&(n=e);break}case`initialPlacement`:n=o}if(r!==n)return{reset:{placement:n}}}return{}}}},$n=new Set([`left`,`top`]);async function er(e,t){let{placement:n,platform:r,elements:i}=e,a=await(r.isRTL==null?void 0:r.isRTL(i.floating)),o=J(n),s=jn(n),c=Y(n)===`y`,l=$n.has(o)?-1:1,u=a&&c?-1:1,d=An(t,e),{mainAxis:f,crossAxis:p,alignmentAxis:m}=typeof d==`number`?{mainAxis:d,crossAxis:0,alignmentAxis:null}:{mainAxis:d.mainAxis||0,crossAxis:d.crossAxis||0,alignmentAxis:d.alignmentAxis};return s&&typeof m==`number`&&(p=s===`end`?m*-1:m),c?{x:p*u,y:f*l}:{x:f*l,y:p*u}}var tr=function(e){return e===void 0&&(e=0),{name:`offset`,options:e,async fn(t){var n;let{x:r,y:i,placement:a,middlewareData:o}=t,s=await er(t,e);return a===o.offset?.placement&&(n=o.arrow)!=null&&n.alignmentOffset?{}:{x:r+s.x,y:i+s.y,data:{...s,placement:a}}}}},nr=function(e){return e===void 0&&(e={}),{name:`shift`,options:e,async fn(t){let{x:n,y:r,placement:i,platform:a}=t,{mainAxis:o=!0,crossAxis:s=!1,limiter:c={fn:e=>{let{x:t,y:n}=e;return{x:t,y:n}}},...l}=An(e,t),u={x:n,y:r},d=await a.detectOverflow(t,l),f=Y(i),p=Mn(f),m=u[p],h=u[f],g=(e,t)=>kn(t+d[e===`y`?`top`:`left`],t,t-d[e===`y`?`bottom`:`right`]);o&&(m=g(p,m)),s&&(h=g(f,h));let _=c.fn({...t,[p]:m,[f]:h});return{..._,data:{x:_.x-n,y:_.y-r,enabled:{[p]:o,[f]:s}}}}}},rr={getElementRects:({reference:e,floating:t})=>({reference:e.getBoundingClientRect(),floating:{x:0,y:0,width:t.offsetWidth,height:t.offsetHeight}}),getClippingRect:()=>({x:0,y:0,width:document.documentElement.clientWidth,height:innerHeight}),getDimensions:e=>({width:e.offsetWidth,height:e.offsetHeight})};async function ir(e,t,n){let{x:r,y:i}=await Zn(e,t,{platform:rr,strategy:`fixed`,placement:n,middleware:[tr(8),Qn({padding:8}),nr({padding:8})]});t.style.left=`${Math.round(r)}px`,t.style.top=`${Math.round(i)}px`}var ar=120,or=200,sr=class{citation;tapped=!1;#e;#t;#n;#r;constructor(e,t){this.#e=e,this.#t=t,e.addController(this)}hostDisconnected(){clearTimeout(this.#r)}hostUpdated(){let e=this.#t();e&&this.#n&&ir(this.#n,e,`top`)}hover(e,t){this.#a(ar,()=>this.#i(e,t,!1))}focus(e,t){this.tapped||this.#i(e,t,!1)}tap(e,t){return this.tapped&&this.#n===t?!1:(this.#i(e,t,!0),!0)}keep(){clearTimeout(this.#r)}leave(){this.tapped||this.#a(or,()=>this.hide())}scrolled(e){if(!this.#n)return;let[t,n]=[this.#n.getBoundingClientRect(),e.getBoundingClientRect()];t.bottom<n.top||t.top>n.bottom?this.hide():this.hostUpdated()}hide(){clearTimeout(this.#r),this.citation&&(this.citation=void 0,this.#n=void 0,this.tapped=!1,this.#e.requestUpdate())}#i(e,t,n){clearTimeout(this.#r),this.citation=e,this.#n=t,this.tapped=n,this.#e.requestUpdate()}#a(e,t){clearTimeout(this.#r),this.#r=setTimeout(t,e)}},cr=32,lr=12,ur=class{below=!1;#e=!0;#t;follow(){this.#e=!0,this.#t=void 0}drawn(e){if(!e)return;let t=e.scrollHeight-e.clientHeight;if(this.#n(e)&&e.scrollTop<t-2&&(this.#e=!1),this.#e){let n=e.querySelectorAll(`.message.user`),r=n[n.length-1],i=r?r.offsetTop-lr:t;this.#t=Math.max(0,Math.min(t,i)),e.scrollTop=this.#t}this.#r(e)}scrolled(e){let t=this.below;return this.#n(e)&&(this.#e=!1),this.#r(e),this.below!==t}toEnd(e){e?.scrollTo({top:e.scrollHeight})}#n(e){return this.#t!==void 0&&Math.abs(e.scrollTop-this.#t)>2}#r(e){this.below=e.scrollHeight-e.clientHeight-e.scrollTop>cr}},dr=200,fr=2,pr=class{text=``;#e;#t;#n;#r;#i=!1;#a=!1;#o=!1;#s;#c=``;#l;constructor(e,t,n){this.#e=e,this.#t=t,this.#n=n,e.addController(this)}hostConnected(){let{signal:e}=this.#l=new AbortController,t={signal:e,passive:!0,capture:!0};document.addEventListener(`selectionchange`,()=>this.#u(),{signal:e}),document.addEventListener(`pointerdown`,e=>this.#d(e),t);for(let e of[`pointerup`,`pointercancel`])document.addEventListener(e,()=>this.#f(),t);document.addEventListener(`keydown`,e=>this.#p(e),{signal:e,capture:!0});for(let e of[`scroll`,`resize`])addEventListener(e,()=>this.reposition(),t)}hostDisconnected(){this.#l?.abort(),clearTimeout(this.#s)}hostUpdated(){this.reposition()}offer(e,t){this.#o=!0,this.#g(e,()=>t.getBoundingClientRect())}hide(){clearTimeout(this.#s),this.text&&(this.text=``,this.#o=!1,this.#r=void 0,this.#e.requestUpdate())}reposition(){let[e,t]=[this.#t(),this.#r];if(!e||!t)return;let n=t();e.classList.toggle(`away`,n.bottom<0||n.top>innerHeight),ir({getBoundingClientRect:()=>n},e,this.#a?`bottom`:`top`)}#u(){clearTimeout(this.#s),this.#i||(this.#s=setTimeout(()=>this.#m(),dr))}#d(e){e.composedPath().includes(this.#e)||(this.#a=e.pointerType===`touch`,this.#i=!this.#a,this.#c=``,(!this.#a||this.#o)&&this.hide())}#f(){this.#i&&(this.#i=!1,this.#u())}#p(e){if(this.text&&!e.composedPath().includes(this.#e)){if(e.key===`Escape`)this.#c=this.text,this.hide();else if(e.key===`Tab`&&!e.shiftKey&&!e.altKey&&!e.ctrlKey&&!e.metaKey){let t=this.#t()?.querySelector(`button`);if(!t)return;e.preventDefault(),t.focus({preventScroll:!0})}}}#m(){let e=getSelection(),t=e?.toString().trim()??``,n=e?.rangeCount?e.getRangeAt(0):void 0;!n||!this.#n()||!this.#h(t,n)?!this.#o&&!this.#t()?.matches(`:focus-within`)&&this.hide():t!==this.#c&&(this.#o=!1,this.#g(t,()=>n.getBoundingClientRect()))}#h(e,t){if((e.match(/[\p{L}\p{N}]/gu)?.length??0)<fr)return!1;let n=t.commonAncestorContainer,r=n instanceof Element?n:n.parentElement,i=`input, textarea, select, [contenteditable]:not([contenteditable="false"])`;return!document.activeElement?.matches(i)&&!r?.closest(`${i}, lutrin-chat`)}#g(e,t){this.text=e,this.#r=t,this.#e.requestUpdate()}},mr=class{sessions;failed=!1;renaming=``;removing=``;#e;constructor(e){this.#e=e}async load(e){this.sessions=void 0,this.cancel(),await this.#t(async()=>{if(!e)throw TypeError(`no server is named`);this.sessions=await e.sessions()})}startRenaming(e){this.cancel(),this.renaming=e.id,this.#e()}startRemoving(e){this.cancel(),this.removing=e.id,this.#e()}cancel(){this.renaming=this.removing=``,this.#e()}async rename(e,t,n){this.cancel(),n.trim()&&n.trim()!==t.title&&await this.#t(async()=>{await e.rename(t.id,n.trim()),t.title=n.trim()})}async remove(e,t){return this.cancel(),this.#t(async()=>{await e.remove(t.id),this.sessions=this.sessions?.filter(({id:e})=>e!==t.id)})}async save(e,t,n){await this.#t(async()=>{let r=URL.createObjectURL(await e.exported(t.id,n)),i=document.createElement(`a`);i.href=r,i.download=`conversation-${t.created.slice(0,10)}.${n===`json`?`json`:`md`}`,i.click(),setTimeout(()=>URL.revokeObjectURL(r),1e4)})}async#t(e){this.failed=!1;try{await e()}catch{this.failed=!0}return this.#e(),!this.failed}},hr=o`
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
`,gr=o`
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
  .quote {
    margin: 0 0 10px;
    padding-inline-start: 12px;
    border-inline-start: 3px solid var(--_accent);
  }
  .quote blockquote,
  .preview blockquote {
    margin: 0;
    font: 16px/1.5 var(--_book);
  }
  .quote blockquote :is(pre, code),
  .preview blockquote :is(pre, code) {
    font-family: var(--_mono);
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
  .sources {
    margin: 8px 0 4px;
    padding: 4px 0 0;
    border-top: 1px solid var(--_line);
    list-style: none;
  }
  .source {
    display: flex;
    align-items: baseline;
    gap: 8px;
    min-height: 28px;
    padding: 3px 2px;
    border-radius: 6px;
    font-size: 13px;
    color: inherit;
    text-decoration: none;
  }
  .source:hover .section {
    text-decoration: underline;
  }
  .number {
    color: var(--_link);
    font-weight: 650;
  }
  .section {
    flex: none;
    max-width: 74%;
  }
  .section,
  .file {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .file {
    margin-inline-start: auto;
    color: var(--_quiet);
    font: 12px var(--_mono);
    text-align: end;
  }
  .more {
    padding: 4px 2px;
    border: 0;
    font: 13px var(--_font);
    color: var(--_link);
    text-decoration: underline;
    background: none;
    cursor: pointer;
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
`,_r=o`
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
`,vr=o`
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
  --_shadow: 0 1px 2px rgb(46 31 20 / 18%), 0 12px 40px rgb(46 31 20 / 22%);
  color-scheme: light;
`,yr=o`
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
  --_shadow: 0 0 0 1px rgb(0 0 0 / 40%), 0 12px 40px rgb(0 0 0 / 55%);
  color-scheme: dark;
`,br=[o`
  :host {
    ${vr}
    --_book: var(--lutrin-book-font, ui-serif, "Iowan Old Style", Palatino, "Book Antiqua", P052, Georgia, serif);
    --_font: var(--lutrin-font, system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif);
    --_mono: ui-monospace, "Cascadia Mono", Menlo, Consolas, monospace;
    --_layer: var(--lutrin-layer, 9000);
    font: 15px/1.55 var(--_font);
    color: var(--_ink);
    text-align: start;
  }
  :host([scheme="dark"]) {
    ${yr}
  }
  @media (prefers-color-scheme: dark) {
    :host(:not([scheme="light"])) {
      ${yr}
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
`,_r,gr,hr],xr={title:`Ask the book`,open:`Ask the book`,close:`Close`,conversations:`Conversations`,newConversation:`New conversation`,back:`Back to the conversation`,greeting:`What would you like to know?`,hint:`Answers come from the book alone, with the place where each one stands. Or select a sentence in the text to ask about it.`,placeholder:`Ask about the book`,message:`Your question`,messages:`Messages`,send:`Send`,stop:`Stop`,you:`You`,book:`The book`,searching:`Looking it up`,writing:`Writing`,restoring:`Opening your conversation`,queued:(e,t)=>`${e===1?`One reader is`:`${e} readers are`} before you, about ${Math.max(1,Math.round(t))} s`,resuming:`The connection was cut; picking it up again`,stopped:`Stopped.`,extractive:`In the book’s own words`,sources:`Sources`,moreSources:e=>`${e} more`,source:(e,t)=>`Source ${e}: ${t}`,openSource:`Open in the book`,page:e=>`page ${e}`,image:e=>`Image: ${e}`,copy:`Copy`,copied:`Copied`,copyCode:`Copy code`,retry:`Try again`,good:`Helpful`,bad:`Not helpful`,whatWasWrong:`What was wrong? (optional)`,sendComment:`Send`,thanks:`Thank you.`,covered:`The book covers:`,askAbout:e=>`What does the book say about ${e}?`,searchBook:`Search the whole book`,selection:`Selected text`,removeSelection:`Remove the selection`,selectionOnly:`Answer from this passage alone`,toolbar:`Ask about the selected text`,ask:`Ask`,explain:`Explain`,simplify:`Simplify`,explainQuestion:`Explain this passage.`,simplifyQuestion:`Explain this passage in simpler words.`,toLatest:`Go to the newest text`,noConversations:`No conversations yet.`,untitled:`Conversation`,rename:`Rename`,name:`Name of the conversation`,save:`Save`,cancel:`Cancel`,remove:`Delete`,removeQuestion:e=>`Delete “${e}” for good?`,exportMarkdown:`Export as Markdown`,exportJson:`Export as JSON`,questions:e=>e===1?`1 message`:`${e} messages`,wait:e=>`You can ask again in ${e} s.`,wrong:`Something went wrong. Please try again.`},Sr={book:N`<path d="M12 6.5C10 5 7 4.5 3.5 4.5v13c3.5 0 6.5.5 8.5 2 2-1.5 5-2 8.5-2v-13C17 4.5 14 5 12 6.5zM12 6.5v13"/>`,close:N`<path d="M6 6l12 12M18 6L6 18"/>`,list:N`<path d="M4 6.5h16M4 12h16M4 17.5h10"/>`,plus:N`<path d="M12 5v14M5 12h14"/>`,back:N`<path d="M14.5 5.5L8 12l6.5 6.5"/>`,send:N`<path d="M12 19.5V5M5.5 11.5L12 5l6.5 6.5"/>`,stop:N`<rect class="solid" x="7" y="7" width="10" height="10" rx="1.5"/>`,copy:N`<rect x="8.5" y="8.5" width="11" height="11" rx="2"/><path d="M15.5 5.5v-1h-11v11h1"/>`,check:N`<path d="M5 12.5l4.5 4.5L19 7.5"/>`,retry:N`<path d="M19 12a7 7 0 1 1-2.2-5.1M19 3.5v4h-4"/>`,up:N`<path d="M7.5 10.5v9h-3v-9zM7.5 10.5l4-7c1.5 0 2.2 1 2 2.5l-.5 3.5h5c1.3 0 2 1 1.7 2.2l-1.5 6c-.3 1.1-1 1.8-2.2 1.8H7.5"/>`,down:N`<path d="M16.5 13.5v-9h3v9zM16.5 13.5l-4 7c-1.5 0-2.2-1-2-2.5l.5-3.5H6c-1.3 0-2-1-1.7-2.2l1.5-6c.3-1.1 1-1.8 2.2-1.8h8.5"/>`,arrow:N`<path d="M12 5v14M5.5 12.5L12 19l6.5-6.5"/>`,edit:N`<path d="M5 19l1-4L16.5 4.5l3 3L9 18z"/>`,trash:N`<path d="M5 7h14M9.5 7V4.5h5V7M7 7l1 12.5h8L17 7M10.5 11v5M13.5 11v5"/>`,save:N`<path d="M12 4v11M7.5 11L12 15.5 16.5 11M5 19.5h14"/>`};function X(e){return M`<svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" focusable="false">${Sr[e]}</svg>`}function Cr(e){let{texts:t,draft:n,phase:r,wait_s:i}=e,a=r===`asking`;return M`<form class="composer" @submit=${e.submit}>
    ${e.selection?wr(e):I}
    ${i?M`<p class="wait" role="timer">${t.wait(i)}</p>`:I}
    <div class="row">
      <textarea rows="1" dir="auto" maxlength="8000" autocomplete="off" enterkeyhint="send"
        aria-label=${t.message} placeholder=${t.placeholder}
        .value=${n} ?disabled=${r!==`idle`} @input=${e.type} @keydown=${e.key}></textarea>
      ${a?M`<button class="round stop" type="button" aria-label=${t.stop} title=${t.stop} @click=${e.stop}>${X(`stop`)}</button>`:M`<button class="round send" aria-label=${t.send} title=${t.send}
            ?disabled=${r!==`idle`||i>0||!n.trim()}>${X(`send`)}</button>`}
    </div>
  </form>`}function wr({texts:e,selection:t,selectionOnly:n,removeSelection:r,toggleSelectionOnly:i}){return M`<div class="selection" role="group" aria-label=${e.selection}>
    <blockquote dir="auto">${t}</blockquote>
    <button class="icon" type="button" aria-label=${e.removeSelection} title=${e.removeSelection} @click=${r}>${X(`close`)}</button>
    <label><input type="checkbox" .checked=${n} @change=${i} />${e.selectionOnly}</label>
  </div>`}function Tr(e){let{texts:t,sessions:n,failed:r}=e;return r?M`<p class="error" role="alert">${t.wrong}</p>`:n?n.length?M`<ul class="conversations">${n.map(t=>Er(t,e))}</ul>`:M`<p class="empty">${t.noConversations}</p>`:M`<p class="progress"><span class="dots" aria-hidden="true"><i></i><i></i><i></i></span></p>`}function Er(e,t){let{texts:n,current:r,renaming:i,removing:a}=t,o=i===e.id?Or(e,t):a===e.id?kr(e,t):Dr(e,t);return M`<li aria-label=${e.title||n.untitled} class=${e.id===r?`current`:``}>${o}</li>`}function Dr(e,{texts:t,current:n,open:r,rename:i,remove:a,save:o}){let s=new Date(e.updated).toLocaleDateString([],{day:`numeric`,month:`short`}),c=e.title||t.untitled;return M`
    <button class="open" type="button" aria-current=${e.id===n?`true`:I} @click=${()=>r(e)}>
      <span class="title"><bdi>${c}</bdi></span>
    </button>
    <span class="label">${s} · ${t.questions(e.message_count)}</span>
    <button class="icon" type="button" aria-label=${t.rename} title=${t.rename} @click=${()=>i(e)}>${X(`edit`)}</button>
    <button class="icon named" type="button" aria-label=${t.exportMarkdown} title=${t.exportMarkdown} @click=${()=>o(e,`markdown`)}>${X(`save`)}<span>md</span></button>
    <button class="icon named" type="button" aria-label=${t.exportJson} title=${t.exportJson} @click=${()=>o(e,`json`)}>${X(`save`)}<span>json</span></button>
    <button class="icon" type="button" aria-label=${t.remove} title=${t.remove} @click=${()=>a(e)}>${X(`trash`)}</button>
  `}function Or(e,{texts:t,saveName:n,cancel:r}){return M`<form @submit=${t=>n(e,t)} @keydown=${Ar(r)}>
    <input name="title" maxlength="200" autocomplete="off" aria-label=${t.name} .value=${e.title}
      @focus=${e=>e.target.select()} />
    <button class="chip">${t.save}</button>
    <button class="chip" type="button" @click=${r}>${t.cancel}</button>
  </form>`}function kr(e,{texts:t,removeForGood:n,cancel:r}){let i=t.removeQuestion(e.title||t.untitled);return M`<div class="confirm" role="group" aria-label=${i} @keydown=${Ar(r)}>
    <span dir="auto">${i}</span>
    <button class="chip danger" type="button" @click=${()=>n(e)}>${t.remove}</button>
    <button class="chip" type="button" @click=${r}>${t.cancel}</button>
  </div>`}function Ar(e){return t=>{t.key===`Escape`&&(t.stopPropagation(),e())}}var jr=`alpha α beta β gamma γ delta δ epsilon ϵ varepsilon ε zeta ζ eta η theta θ iota ι kappa κ lambda λ mu μ nu ν xi ξ pi π rho ρ sigma σ tau τ upsilon υ phi ϕ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Phi Φ Psi Ψ Omega Ω infty ∞ partial ∂ nabla ∇ ell ℓ`,Mr=`cdot ⋅ times × div ÷ pm ± mp ∓ le ≤ leq ≤ ge ≥ geq ≥ ne ≠ neq ≠ approx ≈ equiv ≡ sim ∼ propto ∝ ll ≪ gg ≫ in ∈ notin ∉ subset ⊂ cup ∪ cap ∩ to → rightarrow → leftarrow ← Rightarrow ⇒ mapsto ↦ sum ∑ prod ∏ int ∫ circ ∘ ldots … dots … cdots ⋯ forall ∀ exists ∃ mid | parallel ∥ perp ⊥ langle ⟨ rangle ⟩ lVert ‖ rVert ‖ | ‖ { { } } % %`,Nr=new Set([`,`,`;`,`:`,`!`,` `,`quad`,`qquad`]),Pr=new Set(`sin cos tan cot arcsin arccos arctan sinh cosh tanh log ln exp min max arg det lim sup inf`.split(` `)),Fr=Br(`hat ^ dot ˙ ddot ¨ bar ¯ vec → tilde ~ overline ¯`),Ir=Br(jr),Lr=Br(Mr),Rr=new Set([`mathrm`,`text`,`operatorname`,`textrm`,`mathbf`,`boldsymbol`,`mathit`]),Z=class extends Error{};function zr(e){let t=e.match(/\\(?:[a-zA-Z]+|.)|[0-9]+(?:\.[0-9]+)?|\s+|[^]/gu)??[],n=0;function r(e){let r=[];for(;!e(t[n]);){if(n>=t.length)throw new Z(`unbalanced`);let e=i();e&&r.push(e)}return n+=1,r.length===1&&r[0]?r[0]:[`mrow`,r]}function i(){let e=s(),[r,i]=[void 0,void 0];for(;;)if(t[n]===`_`&&!r)r=(n++,a());else if(t[n]===`^`&&!i)i=(n++,a());else if(t[n]===`'`&&!i)i=(n++,[`mo`,`′`]);else break;if(!r&&!i)return e;let o=e??[`mrow`,[]];return r&&i?[`msubsup`,[o,r,i]]:r?[`msub`,[o,r]]:[`msup`,[o,i??[`mrow`,[]]]]}function a(){for(;/^\s/.test(t[n]??``);)n+=1;return s()??[`mrow`,[]]}function o(){let e=``;if(t[n++]!==`{`)throw new Z(`an argument is missing`);for(;t[n]!==`}`;){if(n>=t.length)throw new Z(`unbalanced`);e+=t[n++]}return n+=1,e.replace(/\\[ ,;:]/g,` `)}function s(){let e=t[n++]??``;if(!/^\s*$/.test(e)){if(e===`{`)return r(e=>e===`}`);if(/^[0-9]/.test(e))return[`mn`,e];if(/^\p{L}$/u.test(e))return[`mi`,e];if(!e.startsWith(`\\`)){if(`}_^&$#`.includes(e))throw new Z(e);return e===`°`?[`mtext`,e]:[`mo`,e===`-`?`−`:e]}return c(e.slice(1))}}function c(e){let t=Ir.get(e);if(t)return[`mi`,t];let n=Lr.get(e);if(n)return[`mo`,n];if(Nr.has(e))return[`mtext`,` `];if(Pr.has(e))return[`mi`,e];if(Rr.has(e))return[`mtext`,o()];let r=Fr.get(e);if(r)return[`mover`,[a(),[`mo`,r]]];switch(e){case`frac`:case`dfrac`:case`tfrac`:return[`mfrac`,[a(),a()]];case`sqrt`:return[`msqrt`,[a()]];case`left`:case`right`:{let e=s();return e?.[1]===`.`?void 0:e}case`begin`:return l(o());default:throw new Z(e)}}function l(e){let[i,a]={bmatrix:[`[`,`]`],pmatrix:[`(`,`)`],matrix:[``,``],cases:[`{`,``],aligned:[``,``]}[e]??[];if(i===void 0||a===void 0)throw new Z(e);let s=[],c=[];for(;;){c.push([`mtd`,[r(e=>e===`&`||e===`\\\\`||e===`\\end`)]]);let e=t[n-1];if(e!==`&`&&(s.push([`mtr`,c]),c=[],e===`\\end`))break}o();let l=e=>e?[[`mo`,e]]:[];return[`mrow`,[...l(i),[`mtable`,s],...l(a)]]}return r(e=>e===void 0)}function Br(e){let t=e.split(` `);return new Map(t.flatMap((e,n)=>n%2?[]:[[e,t[n+1]??``]]))}function Vr(e,t){try{let n=Hr(zr(e));return M`<math display=${t?`block`:I} aria-label=${e}>${n}</math>`}catch(t){if(!(t instanceof Z))throw t;return M`<code class="tex">${e}</code>`}}function Hr([e,t]){let n=typeof t==`string`?t:t.map(Hr);switch(e){case`mi`:return P`<mi>${n}</mi>`;case`mn`:return P`<mn>${n}</mn>`;case`mo`:return P`<mo>${n}</mo>`;case`mtext`:return P`<mtext>${n}</mtext>`;case`mrow`:return P`<mrow>${n}</mrow>`;case`mfrac`:return P`<mfrac>${n}</mfrac>`;case`msqrt`:return P`<msqrt>${n}</msqrt>`;case`msup`:return P`<msup>${n}</msup>`;case`msub`:return P`<msub>${n}</msub>`;case`msubsup`:return P`<msubsup>${n}</msubsup>`;case`mover`:return P`<mover accent="true">${n}</mover>`;case`mtable`:return P`<mtable>${n}</mtable>`;case`mtr`:return P`<mtr>${n}</mtr>`;case`mtd`:return P`<mtd>${n}</mtd>`}}function Ur(e,t){return Wr(zt(e),t)}function Wr(e,t,n=!1){return e.map(e=>Gr(e,t,n))}function Gr(e,t,n){switch(e.type){case`paragraph`:{let r=Q(e.children,t);return n?r:M`<p class=${e.children.every(e=>e.type===`cite`||e.type===`text`&&!e.text.trim())?`cites`:``} dir="auto">${r}</p>`}case`heading`:return M`<p class="heading" dir="auto">${Q(e.children,t)}</p>`;case`code`:return Kr(e.text,e.language,t);case`quote`:return M`<blockquote>${Wr(e.blocks,t)}</blockquote>`;case`list`:{let n=e.items.map(({checked:n,blocks:r})=>M`<li dir="auto">${n===void 0?I:n?`☑ `:`☐ `}${Wr(r,t,e.tight)}</li>`);return e.start===void 0?M`<ul>${n}</ul>`:M`<ol start=${e.start}>${n}</ol>`}case`table`:return qr(e.header,e.rows,t);case`rule`:return M`<hr />`}}function Kr(e,t,{texts:n,copy:r}){let i=r?M`<button class="icon" type="button" aria-label=${n.copyCode} title=${n.copyCode}
        @click=${t=>r(e,t)}>${X(`copy`)}</button>`:I;return M`<div class="code" dir="ltr">
    ${r||t?M`<div class="language"><span>${t}</span>${i}</div>`:I}
    <pre tabindex="0"><code>${e}</code></pre>
  </div>`}function qr(e,t,n){let r=e=>Q(e,n);return M`<div class="table" tabindex="0">
    <table>
      <thead><tr>${e.map(e=>M`<th scope="col" dir="auto">${r(e)}</th>`)}</tr></thead>
      <tbody>${t.map(e=>M`<tr>${e.map(e=>M`<td dir="auto">${r(e)}</td>`)}</tr>`)}</tbody>
    </table>
  </div>`}function Q(e,t){return e.map(e=>Jr(e,t))}function Jr(e,t){switch(e.type){case`text`:return e.text;case`code`:return M`<code dir="ltr">${e.text}</code>`;case`strong`:return M`<strong>${Q(e.children,t)}</strong>`;case`em`:return M`<em>${Q(e.children,t)}</em>`;case`del`:return M`<del>${Q(e.children,t)}</del>`;case`break`:return M`<br />`;case`cite`:return t.cite(e.n)??e.raw;case`math`:return Vr(e.tex,e.display);case`image`:return M`<span class="image">${t.texts.image(e.alt)}</span>`;case`link`:{let n=Q(e.children,t),r=Yt(e.href);return r?M`<a href=${r} target="_blank" rel="noopener noreferrer">${n}</a>`:n}}}var Yr=3;function Xr(e,t,n){return M`${e.question?Zr(e,n):I}${Qr(e,t,n)}`}function Zr({question:e,selectedText:t,asked:n},{texts:r}){return M`<article class="message user" aria-label=${r.you}>
    ${t?M`<blockquote class="selected" dir="auto">${t}</blockquote>`:I}
    <div class="text" dir="auto">${e}</div>
    ${ci(n)}
  </article>`}function Qr(e,t,n){let{texts:r}=n,i=Xe(e),a={texts:r,copy:n.copy,cite:t=>{let r=Ze(e,t);return r&&ei(r,n)}},o=e.state===`waiting`||e.state===`streaming`;return M`<article class="message book" aria-label=${r.book} aria-busy=${o}>
    ${e.text?I:e.quotes.map(({text:e,citation:t})=>$r(e,t,a,n))}
    ${e.kind===`extractive`?M`<p class="label">${r.extractive}</p>`:I}
    ${i?M`<div class="text">${Ur(i,a)}</div>`:I}
    ${o?ti(e,r):I}
    ${e.warnings.map(e=>M`<p class="warning" dir="auto">${e}</p>`)}
    ${e.state===`failed`?M`<p class="error" role="alert">${e.error||r.wrong}</p>`:I}
    ${e.state===`stopped`?M`<p class="label">${r.stopped}</p>`:I}
    ${e.refusal?ni(e,n):I}
    ${e.state===`done`?ri(e,n):I}
    ${o?I:ai(e,t,i,n)}
  </article>`}function $r(e,t,n,r){return M`<figure class="quote">
    <blockquote dir="auto">${Ur(e,{texts:n.texts,cite:()=>void 0})}</blockquote>
    <figcaption><bdi>${t.section_title}</bdi> ${ei(t,r)}</figcaption>
  </figure>`}function ei(e,{texts:t,hrefOf:n}){return M`<a class="cite" href=${n(e)} .citation=${e} aria-describedby="preview"
    aria-label=${t.source(e.n,e.section_title)}>${e.n}</a>`}function ti({queue:e,resuming:t,state:n},r){return M`<p class="progress"><span class="dots" aria-hidden="true"><i></i><i></i><i></i></span>${t?r.resuming:e?r.queued(e.position,e.eta_s):n===`streaming`?r.writing:r.searching}</p>`}function ni(e,{texts:t,ready:n,ask:r,searchBook:i}){return M`
    ${e.refusal===`not_in_selection`?M`<button class="chip" type="button" ?disabled=${!n} @click=${()=>i(e)}>${t.searchBook}</button>`:I}
    ${e.suggestions.length?M`<div class="suggestions"><span class="label">${t.covered}</span>${e.suggestions.map(e=>M`<button class="chip" type="button" dir="auto" ?disabled=${!n} @click=${()=>r(t.askAbout(e))}>${e}</button>`)}</div>`:I}
  `}function ri(e,t){let{texts:n,expanded:r,expand:i}=t;if(!e.sources.length)return I;let a=r.has(e)?e.sources:e.sources.slice(0,Yr),o=e.sources.length-a.length;return M`<ul class="sources" aria-label=${n.sources}>
    ${a.map(e=>M`<li><a class="source" href=${t.hrefOf(e)} .citation=${e} aria-describedby="preview">
        <span class="number">${e.n}</span> <span class="section"><bdi>${e.section_title||e.chapter}</bdi></span>
        <span class="file" dir="ltr">${ii(e)}</span></a></li>`)}
    ${o?M`<li><button class="more" type="button" @click=${()=>i(e)}>${n.moreSources(o)}</button></li>`:I}
  </ul>`}function ii({filename:e}){return e.slice(e.lastIndexOf(`/`)+1)}function ai(e,t,n,r){let{texts:i,ready:a,retry:o,copy:s,judge:c,commenting:l}=r,u=t&&e.question&&(e.state!==`done`||e.kind===`extractive`),d=e.state===`done`&&e.messageId;return M`<footer>
      ${ci(e.answered)}
      <span class="actions">
        ${u?oi(`retry`,i.retry,()=>o(e),{disabled:!a,word:e.state!==`done`}):I}
        ${n?oi(`copy`,i.copy,t=>s(si(e,n,r),t)):I}
        ${d?oi(`up`,i.good,()=>c(e,`up`),{pressed:e.verdict===`up`}):I}
        ${d?oi(`down`,i.bad,()=>c(e,`down`),{pressed:e.verdict===`down`}):I}
      </span>
    </footer>
    ${l===e?M`<form class="comment" @submit=${t=>r.comment(e,t)}>
          <input name="comment" maxlength="2000" autocomplete="off" aria-label=${i.whatWasWrong} placeholder=${i.whatWasWrong} />
          <button class="chip">${i.sendComment}</button>
        </form>`:I}`}function oi(e,t,n,r={}){return M`<button class=${r.word?`chip`:`icon`} type="button" title=${t} aria-label=${t}
    aria-pressed=${r.pressed??I} ?disabled=${r.disabled??!1} @click=${n}>${X(e)}${r.word?M`<span>${t}</span>`:I}</button>`}function si(e,t,{hrefOf:n}){let r=e.sources.map(e=>`[${e.n}] ${[e.chapter,e.section_title].filter(Boolean).join(`, `)} (${n(e)})`);return r.length?`${t}\n\n${r.join(`
`)}`:t}function ci(e){if(!e||Number.isNaN(e.getTime()))return I;let t=e.toDateString()===new Date().toDateString()?e.toLocaleTimeString([],{hour:`2-digit`,minute:`2-digit`}):e.toLocaleString([],{day:`numeric`,month:`short`,hour:`2-digit`,minute:`2-digit`});return M`<time datetime=${e.toISOString()}>${t}</time>`}function li(e,t,n){return M`<div class="toolbar" role="toolbar" aria-label=${e.toolbar} @keydown=${e=>ui(e,n)}
    @pointerdown=${e=>e.preventDefault()} @mousedown=${e=>e.preventDefault()}>
    ${[`ask`,`explain`,`simplify`].map((n,r)=>M`<button type="button" tabindex=${r?-1:0} @click=${()=>t(n)}>${e[n]}</button>`)}
  </div>`}function ui(e,t){let n=[...e.currentTarget.querySelectorAll(`button`)],r=n.indexOf(e.target),i={ArrowRight:1,ArrowDown:1,ArrowLeft:-1,ArrowUp:-1}[e.key];if(e.key===`Escape`)t();else if(i)n.at((r+i)%n.length)?.focus();else return;e.preventDefault(),e.stopPropagation()}function di(e,t,n,r){return M`<div id="preview" class="preview" role="tooltip" ?hidden=${!e} @pointerenter=${r.enter} @pointerleave=${r.leave}>
    ${e?M`<blockquote dir="auto">${Ur(e.quote,{texts:t,cite:()=>void 0})}</blockquote>
          <p class="label" dir="auto">${fi(e,t)}</p>
          ${n?M`<a class="chip" href=${n.href} .citation=${e} @click=${n.follow}>${t.openSource}</a>`:I}`:I}
  </div>`}function fi(e,t){let n=e.page===null?``:t.page(e.page);return[e.chapter,e.section_title,n,ii(e)].filter(Boolean).join(` · `)}function pi(e){let{words:t,open:n,selecting:r,preview:i}=e,a=i.citation&&i.tapped?{href:e.hrefOf(i.citation),follow:t=>vi(e,t)}:void 0;return M`
    ${n?mi(e):M`<button class="bubble" type="button" part="bubble" aria-label=${t.open} title=${t.open} aria-haspopup="dialog"
          @click=${()=>void e.show()}>${X(`book`)}</button>
        ${e.invitation.shown?M`<span class="invitation" aria-hidden="true" @click=${()=>void e.show()}>${t.open}</span>`:I}`}
    ${r.text?li(t,t=>e.act(t),()=>r.hide()):I}
    ${di(i.citation,t,a,{enter:()=>i.keep(),leave:()=>i.leave()})}
    <div class="status" role="status">${e.status}</div>
  `}function mi(e){let{words:t,view:n,conversation:r,identity:i,list:a}=e;return M`<section class="panel" part="panel" role="dialog" aria-label=${t.title} aria-modal=${e.narrowOpen?`true`:I}
    tabindex="-1" @keydown=${t=>Si(e,t)}
    @pointerdown=${t=>wi(e,t)}>
    <div class="head">
      ${n===`list`?_i(`back`,t.back,()=>e.showChat()):_i(`list`,t.conversations,()=>e.showList())}
      <h2>${n===`list`?t.conversations:t.title}</h2>
      ${_i(`plus`,t.newConversation,()=>e.startNew())}
      ${_i(`close`,t.close,()=>void e.close())}
    </div>
    ${n===`list`?M`<div class="messages">${Tr({texts:t,sessions:a.sessions,failed:a.failed,current:i.session,renaming:a.renaming,removing:a.removing,open:t=>e.openSession(t),rename:t=>{a.startRenaming(t),Ti(e,`input[name=title]`)},saveName:(t,n)=>{n.preventDefault();let r=new FormData(n.target).get(`title`);e.server&&a.rename(e.server,t,String(r??``)),Ti(e,`.conversations .open`)},remove:t=>{a.startRemoving(t),Ti(e,`.confirm .danger`)},removeForGood:t=>void e.removeSession(t),cancel:()=>{a.cancel(),Ti(e,`.conversations .open`)},save:(t,n)=>e.server&&void a.save(e.server,t,n)})}</div>`:M`${hi(e)}
          ${Cr({texts:t,draft:e.draft,selection:e.selection,selectionOnly:e.selectionOnly,phase:r.phase,wait_s:r.wait_s,type:t=>bi(e,t),key:t=>xi(e,t),submit:t=>{t.preventDefault(),e.submit()},stop:()=>r.stop(),removeSelection:()=>{e.selection=``,e.focusInput()},toggleSelectionOnly:()=>{e.selectionOnly=!e.selectionOnly}})}`}
  </section>`}function hi(e){let{words:t,conversation:n}=e,{turns:r,phase:i}=n,a={texts:t,ready:n.ready,expanded:e.expanded,commenting:e.commenting,hrefOf:t=>e.hrefOf(t),expand:t=>{e.expanded.add(t),e.requestUpdate()},retry:t=>e.retry(t),searchBook:t=>e.searchBook(t),ask:t=>void e.ask({text:t}),copy:(t,n)=>e.copy(t,n),judge:(t,n)=>e.judge(t,n),comment:(t,n)=>e.comment(t,n)},o=t=>{let n=$(t);n&&t.pointerType!==`touch`&&e.preview.hover(n.citation,n.link)},s=t=>{let n=$(t);n&&!e.touched&&e.preview.focus(n.citation,n.link)},c=t=>void($(t)&&e.preview.leave());return M`<div class="messages" role="region" tabindex="0" aria-label=${t.messages}
      @pointerover=${o} @pointerout=${c} @focusin=${s} @focusout=${c}
      @click=${t=>vi(e,t)} @scroll=${t=>yi(e,t)}>
      ${i===`restoring`?M`<p class="progress"><span class="dots" aria-hidden="true"><i></i><i></i><i></i></span>${t.restoring}</p>`:I}
      ${n.restoreFailed||!e.server&&!r.length?gi(e):I}
      ${i===`idle`&&!r.length&&e.server&&!n.restoreFailed?M`<div class="greeting"><p class="question">${t.greeting}</p><p>${t.hint}</p></div>`:I}
      ${r.map((e,t)=>Xr(e,t===r.length-1,a))}
    </div>
    ${e.scrolling.below?M`<div class="below"><button class="round" type="button" aria-label=${t.toLatest} title=${t.toLatest}
          @click=${()=>e.scrolling.toEnd(e.messages)}>${X(`arrow`)}</button></div>`:I}`}function gi(e){let{words:t,server:n}=e;return M`<article class="message book"><p class="error" role="alert">${t.wrong}</p>
    ${n?M`<button class="chip" type="button" @click=${()=>e.restoreAgain()}>${X(`retry`)}<span>${t.retry}</span></button>`:I}
  </article>`}function _i(e,t,n){return M`<button class="icon" type="button" aria-label=${t} title=${t} @click=${n}>${X(e)}</button>`}function $(e){let t=e.composedPath().find(e=>e instanceof HTMLAnchorElement);return t?.citation&&{link:t,citation:t.citation}}function vi(e,t){let n=$(t);n&&e.follow(t,n.link,n.citation)}function yi(e,t){let n=t.currentTarget;e.preview.scrolled(n),e.scrolling.scrolled(n)&&e.requestUpdate()}function bi(e,t){e.draft=t.target.value}function xi(e,t){t.key!==`Enter`||t.shiftKey||t.isComposing||(t.preventDefault(),e.submit())}function Si(e,t){e.touched=!1,t.key===`Escape`?(t.stopPropagation(),e.preview.citation?e.preview.hide():e.view===`list`?e.showChat():e.close()):t.key===`Tab`&&e.narrowOpen&&Ci(e,t)}function Ci(e,t){let n=[...e.panel?.querySelectorAll(`a[href], button, textarea, input, [tabindex="0"]`)??[]].filter(e=>!e.matches(`:disabled`)),r=t.shiftKey?n[0]:n[n.length-1],i=t.shiftKey?n[n.length-1]:n[0];t.composedPath()[0]===r&&(t.preventDefault(),i?.focus())}function wi(e,t){e.touched=t.pointerType===`touch`,!$(t)&&!t.target.closest(`.preview`)&&e.preview.hide()}function Ti(e,t){e.updateComplete.then(()=>e.renderRoot.querySelector(t)?.focus())}var Ei=`lutrin:draft`,Di=`lutrin:open`,Oi=`(max-width: 480px)`,ki=800,Ai=class extends z{static styles=br;static properties={api:{},book:{},theme:{},open:{type:Boolean,reflect:!0},texts:{attribute:!1},resolveLink:{attribute:!1},navigate:{attribute:!1},view:{state:!0},draft:{state:!0},selection:{state:!0},selectionOnly:{state:!0},commenting:{state:!0},status:{state:!0}};conversation=new qe(()=>this.requestUpdate());list=new mr(()=>this.requestUpdate());scrolling=new ur;preview=new sr(this,()=>this.renderRoot.querySelector(`.preview:not([hidden])`));selecting=new pr(this,()=>this.renderRoot.querySelector(`.toolbar`),()=>!this.narrowOpen);expanded=new Set;identity;invitation;server;touched=!1;#e=$e(()=>sessionStorage);#t;#n=Promise.resolve();#r;#i;#a;constructor(){super();let e=$e(()=>localStorage);this.identity=new et(e),this.#t=new mn(e),this.invitation=new it(this,e),this.api=this.book=this.theme=null,this.view=`chat`,this.selection=this.status=``,this.selectionOnly=!0,this.open=this.#e.getItem(Di)===`yes`,this.draft=this.#e.getItem(Ei)??``,this.texts={},new wn(this,{ask:e=>void this.#o(e),offer:(e,t)=>this.selecting.offer(e,t),lead:(e,t,n)=>this.#s(e,t,n)})}get words(){return{...xr,...this.texts}}get narrowOpen(){return this.open&&matchMedia(Oi).matches}connectedCallback(){super.connectedCallback();let{signal:e}=this.#i=new AbortController;for(let t of[`hashchange`,`popstate`])addEventListener(t,()=>this.arrived(),{signal:e});let t=window.visualViewport;t?.addEventListener(`resize`,()=>this.style.setProperty(`--_screen`,`${t.height}px`),{signal:e}),this.#a=new MutationObserver(()=>this.#d()),this.#a.observe(document.documentElement,{attributes:!0,attributeFilter:[`data-theme`]}),this.#d(),this.arrived()}disconnectedCallback(){super.disconnectedCallback(),this.conversation.stop(),this.#i?.abort(),this.#a?.disconnect(),document.documentElement.removeAttribute(`data-lutrin-open`),clearInterval(this.#r),this.#r=void 0}willUpdate(e){e.has(`api`)&&this.#c(),e.has(`theme`)&&this.#d(),e.has(`open`)&&this.#e.setItem(Di,this.open?`yes`:``),this.#e.setItem(Ei,this.draft),this.conversation.wait_s>0?this.#r??=setInterval(()=>this.requestUpdate(),250):this.#r=void clearInterval(this.#r)}render(){return pi(this)}updated(e){e.has(`open`)&&document.documentElement.toggleAttribute(`data-lutrin-open`,this.open),this.scrolling.drawn(this.messages)}get messages(){return this.renderRoot.querySelector(`.messages[role="region"]`)}async show(){let e=this.open;this.open=!0,this.invitation.accept(),this.scrolling.follow(),await this.updateComplete,e||this.dispatchEvent(new CustomEvent(`lutrin:open`,{bubbles:!0,composed:!0})),this.focusInput()}async close(){this.open=!1,this.view=`chat`,this.preview.hide(),await this.updateComplete,this.renderRoot.querySelector(`.bubble`)?.focus({preventScroll:!0})}arrived(){this.#t.arrived()}focusInput(){let e=this.renderRoot.querySelector(`textarea`);(e&&!e.disabled&&!matchMedia(`(pointer: coarse)`).matches?e:this.panel)?.focus({preventScroll:!0})}get panel(){return this.renderRoot.querySelector(`.panel`)}hrefOf(e){return this.resolveLink?.(e)??pn(e,this.server?.base??new URL(location.href),location.href).href}submit(){let e=this.selection?{selectedText:this.selection,mode:this.selectionOnly?`selection`:`selection_boosted`}:{};this.ask({text:this.draft,...e})}async ask(e){if(!e.text.trim()||!this.conversation.ready)return;let t=this.renderRoot.querySelector(`:focus`)!==null;this.view=`chat`,this.draft=``,this.scrolling.follow(),this.server||this.#u();let n=this.conversation.ask(this.server,this.identity.session,{...e,...this.book&&{book:this.book}});this.status=this.words.searching,await this.updateComplete,t&&this.renderRoot.querySelector(`.stop`)?.focus({preventScroll:!0});let r=await n;if(!r)return;if(r.state===`failed`&&!this.draft&&(this.draft=r.question),r.state===`done`){this.status=Jt(r.text).slice(0,ki);let{question:e,text:t,sources:n,kind:i,refusal:a}=r,o={question:e,answer:t,sources:n,kind:i,refusal:a};this.dispatchEvent(new CustomEvent(`lutrin:answer`,{bubbles:!0,composed:!0,detail:o}))}await this.updateComplete;let i=this.shadowRoot?.activeElement===null||this.shadowRoot?.activeElement===this.panel;t&&i&&(document.activeElement===this||document.activeElement===document.body)&&this.focusInput()}retry(e){this.conversation.turns=this.conversation.turns.filter(t=>t!==e||e.state===`done`),this.draft===e.question&&(this.draft=``),this.ask({text:e.question,selectedText:e.selectedText,...e.mode&&{mode:e.mode}})}searchBook(e){this.selection=``,this.ask({text:e.question,mode:`book`})}act(e){let t=this.selecting.text;if(this.selecting.hide(),e===`ask`)return void this.#o({selectedText:t});let n=e===`explain`?this.words.explainQuestion:this.words.simplifyQuestion;this.#o({selectedText:t,question:n},`selection_boosted`)}async#o({question:e=``,selectedText:t=``},n=`selection`){this.view=`chat`,t&&!e&&(this.selection=t,this.selectionOnly=!0),await this.show(),await this.#n,e&&(this.conversation.ready?this.ask({text:e,...t&&{selectedText:t,mode:n}}):(this.draft=e,t&&(this.selection=t)))}copy(e,t){let n=t.currentTarget;Ge(e).then(e=>{e&&(this.status=this.words.copied,n.classList.add(`copied`),setTimeout(()=>n.classList.remove(`copied`),1500))})}judge(e,t){this.server&&(this.commenting=t===`down`?e:void 0,this.conversation.judge(this.server,e,t))}comment(e,t){t.preventDefault();let n=String(new FormData(t.target).get(`comment`)??``).trim();this.commenting=void 0,this.status=this.words.thanks,n&&this.server&&this.conversation.judge(this.server,e,`down`,n)}follow(e,t,n){if(this.touched&&!t.closest(`.preview`)&&this.preview.tap(n,t))return e.preventDefault();this.preview.hide(),this.#s(e,new URL(t.href),n.quote)}#s(e,t,n){if(t.origin!==location.origin||(this.#t.expect(t,n),e.button||e.ctrlKey||e.metaKey||e.shiftKey||e.altKey))return;this.narrowOpen&&(this.open=!1);let r=hn(t,location);r&&(t.hash||!location.hash)?t.hash||e.preventDefault():this.navigate?(e.preventDefault(),this.navigate(t)):r&&(e.preventDefault(),history.pushState(null,``,t)),r&&setTimeout(()=>this.arrived())}showList(){this.view=`list`,this.list.load(this.server)}showChat(){this.view=`chat`,this.scrolling.follow(),this.updateComplete.then(()=>this.focusInput())}startNew(){this.identity.startNew(),this.conversation.clear(),this.selection=``,this.showChat()}openSession(e){this.identity.session=e.id,this.selection=``,this.#l(),this.showChat()}async removeSession(e){this.server&&await this.list.remove(this.server,e)&&(e.id===this.identity.session&&(this.identity.startNew(),this.conversation.clear()),this.renderRoot.querySelector(`.conversations .open, .panel`)?.focus())}restoreAgain(){this.#l()}#c(){let e=Ue(this.api,document.baseURI);this.server=e&&new He(e,this.identity.secret),this.server?this.identity.known&&this.#l():this.#u()}#l(){this.server&&(this.scrolling.follow(),this.#n=this.conversation.restore(this.server,this.identity.session))}#u(){console.error("lutrin-chat: no server is named. Set the attribute `api`, the option of the Docusaurus plugin, or REACT_APP_API_URL.")}#d(){let e=this.theme??document.documentElement.dataset.theme??``;e===`dark`||e===`light`?this.setAttribute(`scheme`,e):this.removeAttribute(`scheme`)}};customElements.get(`lutrin-chat`)||customElements.define(`lutrin-chat`,Ai)})();